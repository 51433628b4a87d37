// The routes for clients on another computer: directories of this one, and trees that are sent here.

import type { ServiceDisk } from "../queue-service.js";
import { parseJson } from "../read-body.js";
import { text } from "../readers/fields.js";
import { sentFiles, sentList } from "../readers/tree-readers.js";
import { Refusal } from "../refusal.js";
import type { Call, Route } from "../route.js";

const MOST_LIST_BYTES = 64 << 20;
const MOST_PATH_BYTES = 4095;

export const DISK_ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/directory",
    query: ["path"],
    answer({ service, query, read }) {
      const disk = diskOf(service);
      const asked = read((place) => text(MOST_PATH_BYTES)(query.get("path"), { ...place, where: "path" }));
      return { json: { directory: disk.directory(asked) } };
    },
  },
  {
    method: "POST",
    path: "/v1/trees",
    mostBytes: MOST_LIST_BYTES,
    async answer({ service, body }) {
      const disk = diskOf(service);
      const { entries } = body(sentList);
      return { json: await disk.missing(entries) };
    },
  },
  {
    method: "POST",
    path: "/v1/trees/HASH",
    readsContent: true,
    async answer({ service, words: { HASH = "" }, content, read }) {
      const disk = diskOf(service);
      const { line, rest } = await splitLine(content);
      const files = read((place) => sentFiles(parseJson(line), place));
      await disk.receive(HASH === "empty" ? "" : HASH, files, rest);
      return { json: {} };
    },
  },
];

function diskOf({ disk }: Call["service"]): ServiceDisk {
  if (disk !== undefined) return disk;
  throw new Refusal(405, "a followed batch takes no files", { hint: "the queue service does: sshoal serve" });
}

/** The list is the first line. */
async function splitLine(
  content: AsyncIterable<Buffer>,
): Promise<{ line: Buffer; rest: AsyncIterable<Buffer> }> {
  const pieces = content[Symbol.asyncIterator]();
  const head: Buffer[] = [];
  for (let bytes = 0; ; ) {
    const { done, value } = await pieces.next();
    if (done === true) throw new Refusal(400, "the list of files is not whole");
    const end = value.indexOf("\n");
    bytes += end === -1 ? value.length : end;
    if (bytes > MOST_LIST_BYTES)
      throw new Refusal(413, `the list of files has more than ${MOST_LIST_BYTES} bytes`);
    head.push(end === -1 ? value : value.subarray(0, end));
    if (end === -1) continue;
    const first = value.subarray(end + 1);
    return { line: Buffer.concat(head), rest: { [Symbol.asyncIterator]: () => prefixed(first, pieces) } };
  }
}

async function* prefixed(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first;
  for (;;) {
    const { done, value } = await rest.next();
    if (done === true) return;
    yield value;
  }
}
