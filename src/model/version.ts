// Which sshoal this is.

declare const SSHOAL_VERSION: string;

/** Put in by the build, so that the command reads no file to know it. */
export const VERSION = SSHOAL_VERSION;

/** For what a later sshoal wrote: `writer` is its version, if that is known. */
export function describeNewer(writer: string | null): { readonly message: string; readonly hint: string } {
  const maker = writer === null ? "a sshoal" : `sshoal ${writer}`;
  return {
    message: `made by ${maker}, which is newer than this one (${VERSION})`,
    hint: "upgrade this one: in its clone, git pull && npm pack && npm install -g ./sshoal-*.tgz",
  };
}
