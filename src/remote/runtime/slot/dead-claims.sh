# Finds the claims that no process has any more, and what the jobs of the others use.

# Finds which claims no process has, who owns the directories, and how much memory the jobs of claims hold.
look_closer() {
  [ -n "$claims" ] || return 0
  name_owners
  dead=$(print_dead "$claims")
  page_kb=$(($(getconf PAGESIZE 2>/dev/null || echo 4096) / 1024))
  used=$({ printf '%s\n' "$claims" && cat "$proc"/[0-9]*/stat; } 2>/dev/null 4<&- |
    LC_ALL=C $time_limit awk -v page_kb="$page_kb" -f use.awk 2>/dev/null 4<&-)
}

name_owners() {
  # shellcheck disable=SC2086
  [ -z "$other_dirs" ] || owners=$(ls -ld $other_dirs 2>/dev/null 4<&- | while read -r mode _ owner _ _ _ _ _ path; do
    case $mode in d*) printf '%s=%s ' "$path" "$owner" ;; esac
  done)
}

# Holds the lock: a slot that has come since may have made its claim in a file that had no process. Own files of killed loops are
# emptied, so that no slot looks at them again. Another account can keep a slot from locking its file; so a claim of this account
# is dead only if its processes are, too.
confirm_dead() {
  [ -n "$dead" ] || return 0
  candidates=$(print_dead "$dead") dead=''
  for_lines confirm_one "$candidates"
}

confirm_one() {
  if is_own "${each%/*}"; then
    is_left_over || return 0
    [ ! -O "$each" ] || true >"$each"
  fi
  dead="$dead${dead:+$newline}$each"
}

# print_dead FILES: prints those that no process has.
print_dead() {
  has_flock || return 0
  printf '%s\n' "$1" | $time_limit sh -c 'while IFS= read -r file; do
    { flock -n 8 && printf "%s\n" "$file"; } 8<"$file"
  done' 2>/dev/null 3<&- 4<&- 9<&-
}
