// A directory as people write it: below the home directory, with a tilde.

export function tildePath(dir: string, homeDir: string): string {
  if (dir === homeDir) return "~";
  return homeDir !== "/" && dir.startsWith(`${homeDir}/`) ? `~${dir.slice(homeDir.length)}` : dir;
}
