// What is known of a machine at a moment, for `top` and `probe`.

import type { Capacity } from "./machine.js";

export type RoomLook = { readonly machine: string } & (
  | { readonly kind: "connecting" }
  | {
      readonly kind: "seen";
      readonly capacity: Capacity;
      /** When it answered, by the local clock. */
      readonly at: number;
    }
  | {
      readonly kind: "unreachable";
      readonly reason: string;
      readonly hint: string | null;
      /** Null: it was tried once. */
      readonly since: number | null;
      readonly isRetried: boolean;
    }
);
