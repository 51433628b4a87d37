import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { expect, test } from "vitest";
import type { SentEntry } from "../../../src/model/sent-tree.js";
import { hashEntries } from "../../../src/remote/tree/tree.js";
import { receiveTree } from "../../../src/service/trees/receive-tree.js";
import { openTreeStore } from "../../../src/service/trees/tree-store.js";
import { until } from "../../rig/until.js";
import { useServed } from "./served.js";

const served = useServed();

test("a directory of which the connection is lost leaves nothing, and is no bug", async () => {
  const store = openTreeStore(served.work.path("trees"));
  let ended: unknown = null;
  Object.assign(served.service, {
    disk: {
      receive: (
        hash: string,
        files: Parameters<typeof receiveTree>[1]["files"],
        content: AsyncIterable<Buffer>,
      ) =>
        receiveTree(store, { hash, files, content, now: Date.now() }).catch((error: unknown) => {
          ended = error;
          throw error;
        }),
    },
  });
  const sha256 = createHash("sha256").update("alpha").digest("hex");
  const entry: SentEntry = { type: "File", path: "a", mode: 0o644, mtime: 1, size: 5, sha256 };
  const path = `/v1/trees/${hashEntries([{ ...entry }])}`;
  const socket = connect(served.socket);
  const head = JSON.stringify({ entries: [entry], sent: [sha256] });
  socket.write(`POST ${path} HTTP/1.1\r\nhost: sshoal\r\ncontent-length: 9999\r\n\r\n${head}\nal`);
  await until("it arrives", () => readdirSync(store.drafts).length > 0);
  socket.destroy();
  await until("it was given up", () => ended !== null);
  expect(ended).toMatchObject({ status: 400 });
  expect(readdirSync(store.drafts)).toEqual([]);
  expect(served.bugs).toEqual([]);
});
