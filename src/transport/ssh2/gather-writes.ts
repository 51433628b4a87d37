import type { Duplex } from "node:stream";

/** ssh2 writes every packet in three parts. This joins writes of the same moment into one system call and one segment. */
export function gatherWrites(stream: Duplex): void {
  const write = stream.write;
  const handOn = () => stream.uncork();
  stream.write = ((...written: Parameters<Duplex["write"]>) => {
    if (stream.writableCorked === 0) {
      stream.cork();
      process.nextTick(handOn);
    }
    return write.apply(stream, written);
  }) as Duplex["write"];
}
