# Removes jobs whose results are safe on the client.

# free KEY…: their results are safe on the client. The log records that they were here; if it cannot, they stay,
# emptied.
free() {
  [ $# -gt 0 ] || return 0
  log_freed "$@" || { empty "$@" && log_freed "$@"; } || return 1
  with_lock jobs.lock set_aside "$@"
  # Also removes what an interrupted call left.
  rm -rf removing/* 2>/dev/null || { chmod -R u+rwx removing; rm -rf removing/*; }
}

log_freed() {
  for key; do
    say "freed $key" || return 1
  done
}

# On a full disk, removing the results makes room for the log. The claim stays: no slot takes the job, and no hand-over
# brings it again.
empty() {
  for key; do
    rm -rf "jobs/$key/work" "jobs/$key/out" "jobs/$key/err" 2>/dev/null ||
      { chmod -R u+rwx "jobs/$key/work"; rm -rf "jobs/$key/work"; }
  done
}

# One rename hides a job from slots. In a half-removed job, a slot might see the command but not the claim.
set_aside() {
  [ -d removing ] || mkdir removing
  (cd jobs && exec mv "$@" ../removing/) 2>/dev/null
}
