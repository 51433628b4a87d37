// A stand-in `rm` that removes the claims of jobs first, and then waits until it is released: no `rm` promises an order
// or a duration.

/** `half` appears when the claims are gone; it continues when `go` appears. */
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
