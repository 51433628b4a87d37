// What clients on other computers ask about the disk of the service, and send to it.

import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import type { ServiceDisk } from "../api/queue-service.js";
import { hashEntries } from "../remote/tree/tree.js";
import type { House } from "./queue/generation-order.js";
import { missingFiles, receiveTree } from "./trees/receive-tree.js";
import { openTreeStore } from "./trees/tree-store.js";

export function openServiceDisk({ dir, surroundings: { homeDir } }: House): ServiceDisk {
  const store = () => openTreeStore(path.join(dir, "trees"));
  return {
    directory(asked) {
      const found = path.resolve(homeDir, asked.replace(/^~(?=\/|$)/, homeDir));
      return isDirectory(found) ? found : null;
    },
    async missing(entries) {
      const missing = await missingFiles(store(), entries, Date.now());
      return { tree: hashEntries(entries), missing };
    },
    receive: (hash, files, content) => receiveTree(store(), { hash, files, content, now: Date.now() }),
  };
}

function isDirectory(found: string): boolean {
  try {
    accessSync(found, constants.X_OK);
    return statSync(found).isDirectory();
  } catch {
    return false;
  }
}
