// The version of this sshoal.

declare const SSHOAL_VERSION: string;

/** Inserted by the build, so that the command reads no file for it. */
export const VERSION = SSHOAL_VERSION;

/** For files that a later sshoal wrote. `writer`: its version, if known. */
export function describeNewer(writer: string | null): { readonly message: string; readonly hint: string } {
  const maker = writer === null ? "a sshoal" : `sshoal ${writer}`;
  return {
    message: `made by ${maker}, which is newer than this one (${VERSION})`,
    hint: "upgrade this one: in its clone, git pull && npm pack && npm install -g ./sshoal-*.tgz",
  };
}
