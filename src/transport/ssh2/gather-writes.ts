import type { Duplex } from "node:stream";

/**
 * ssh2 writes every packet in three parts. From now on what is written in one moment is handed on together: it costs the
 * system one call, and travels in one segment.
 */
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
