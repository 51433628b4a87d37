// A stand-in `rm` that removes the claims of jobs first, and stops there until it is let go: no `rm` promises an order, nor how
// long it takes.

/** `half` appears when claims are gone; it goes on when `go` does. */
export function slowRm({ half, go }: { readonly half: string; readonly go: string }): string {
  return `#!/bin/sh
found=
for path; do
  case $path in -*) continue ;; esac
  claims=$(find "$path" -path '*-*/claim' 2>/dev/null)
  [ -z "$claims" ] || { /bin/rm -f $claims && found=yes; }
done
[ -z "$found" ] || { true >'${half}'; until [ -e '${go}' ]; do /bin/sleep 0.02; done; }
exec /bin/rm "$@"
`;
}
