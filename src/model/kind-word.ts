// Makes texts of people into parts of one word that needs no quoting and can be the name of a file.

/** The name of a file has at most 255 bytes. */
const MOST_CHARACTERS = 200;

/** Other characters are written as in web addresses: `%7C`. */
export function plainPart(text: string): string {
  return text.replace(/[^\w.-]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** A long word ends in a checksum of all of it. */
export function shortWord(word: string): string {
  if (word.length <= MOST_CHARACTERS) return word;
  return `${word.slice(0, MOST_CHARACTERS - 17)}_${checksum(word)}`;
}

/** FNV-1a with 64 bits: enough to tell the few kinds of one batch apart. */
function checksum(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (let at = 0; at < text.length; at += 1)
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(at))) * 0x100000001b3n);
  return hash.toString(16).padStart(16, "0");
}
