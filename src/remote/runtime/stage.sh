# Receives a tree, either whole or as changes to an earlier one. Runs with $root, $tree, $bases and $mark set, and with
# the client at descriptor 3.

incoming=$root/trees/incoming.$$

stage() {
  command -v tar >/dev/null || { echo "there is no tar on the machine" >&2; return 1; }
  expect_own "$tree" || return 1
  if [ -d "$tree" ]; then touch "$tree"; echo have; return; fi
  for base in $bases; do
    [ ! -d "$root/trees/$base" ] || echo "base $base"
  done
  ! command -v gzip >/dev/null || echo unzips
  echo ready
  read -r how base kept kb whole_kb form <&3 && make_incoming || return 1
  receive && put_in_place || { rm -rf "$incoming"; return 1; }
  echo staged
}

# Files that an earlier process left under the same name must not get in.
make_incoming() {
  make_own "$root" "$root/trees" && mkdir "$incoming"
}

receive() {
  if [ "$how" = whole ]; then
    has_room "$whole_kb" || return 1
  elif has_room "$kb" && make_from_base; then
    echo rest
  else
    rm -rf "$incoming" && mkdir "$incoming" && has_room "$whole_kb" || return 1
    echo want
  fi
  # busybox's tar subtracts the umask from every mode, unless root runs it. $incoming itself is closed to other
  # accounts.
  umask 0
  if [ "$form" = gzip ]; then
    gzip -dc <&3 | tar -xpof - -C "$incoming"
  else
    tar -xpof - -C "$incoming" <&3
  fi && is_whole
}

has_room() {
  free_kb=$(df -Pk "$root" | { while read -r _ _ _ free _; do last=$free; done; echo "$last"; })
  case $free_kb in
    '' | *[!0-9]*) return 0 ;;
  esac
  [ "$free_kb" -ge "$1" ] && return 0
  echo "not enough space: $((($1 + 1023) / 1024)) MB to copy, $((free_kb / 1024)) MB free in $root" >&2
  return 1
}

# Files are shared with the base by hard links, because trees are never written to: a file that differs is unlinked
# before its new version arrives. Names arrive first, up to an empty line. Fails if hard links are not possible or the
# base is incomplete.
make_from_base() {
  names=$incoming/$mark
  while IFS= read -r name <&3 && [ -n "$name" ]; do
    printf '%b\0' "$name"
  done >"$names" || return 1
  cp -al "$root/trees/$base/." "$incoming/" 2>/dev/null || return 1
  [ ! -s "$names" ] || (cd "$incoming" && xargs -0 rm -rf -- <"$mark") || return 1
  rm -f "$names"
  [ "$(find "$incoming" -print0 | tr -cd '\000' | wc -c)" -eq $((kept + 1)) ]
}

# tar reports no error for an archive that ends between two files.
is_whole() {
  [ -e "$incoming/$mark" ] || { echo "only a part of it arrived" >&2; return 1; }
  # This also sets the time stamp of the tree, which is its last use.
  rm -f "$incoming/$mark"
}

put_in_place() {
  # -T: into its place, never into a tree that another client has finished in the meantime.
  mv -T "$incoming" "$tree" 2>/dev/null || [ -d "$tree" ] || mv "$incoming" "$tree" || return 1
  [ ! -e "$incoming" ] || rm -rf "$incoming"
}
