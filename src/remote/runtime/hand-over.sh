# Puts jobs, and what their slots need, into the spool and starts the slots. Runs with $root, $base and $spool set; $slots, the
# indices of all slots; $most, how many loops there is use for; $tree, the name of the jobs' tree; $is_furnished, empty unless
# slots and scripts are there; $scripts, their names; and with the client at descriptor 3.

incoming=$spool/incoming.$$

hand_over() {
  for tool in setsid tar find xargs; do
    command -v "$tool" >/dev/null || { echo "there is no $tool over there" >&2; return 1; }
  done
  # A slot without its scripts would never take them.
  [ -z "$is_furnished" ] || [ -e "$spool/slot.sh" ] ||
    { echo "what was handed over before is not there any more" >&2; return 1; }
  make_own "$root" "$root/batches" "$spool" && mkdir -p "$incoming" && tar -xpof - -C "$incoming" <&3 && is_whole ||
    { rm -rf "$incoming"; return 1; }
  cd "$spool" || return 1
  [ "$root" = "$base" ] || make_own "$base" "$base/batches" 2>/dev/null
  [ "$root" = "$base" ] || ln -s "$spool" "$base/batches/" 2>/dev/null
  [ -n "$is_furnished" ] ||
    printf "login_umask=%s login_locale='%s'\n" "$login_umask" "$login_locale" >>"$incoming/settings"
  if [ -e jobs ] || [ -e slots ] || [ -e manifest ]; then add; else move_in; fi || return 1
  true >>events
  [ ! -e drain ] || { rm -f drain && echo opened >>events; }
  # Cleaning up elsewhere leaves the trees that are named here.
  echo "$tree" >>trees
  # Once everything is in place.
  for slot in $idle; do
    [ "$most" -gt 0 ] || break
    most=$((most - 1))
    setsid sh slot.sh "$spool" "$slot" </dev/null >"slots/$slot/log" 2>&1 3<&- &
  done
  rm -rf "$incoming"
  echo "done"
}

# To tar an archive that breaks off between two files is no error.
is_whole() {
  [ -e "$incoming/whole" ] || { echo "only a part of it arrived" >&2; return 1; }
}

# Nothing of this batch is here yet, nor a loop that could be working: a rename for each.
move_in() {
  idle=$slots
  set --
  for entry in "$incoming"/*; do
    [ "$entry" = "$incoming/whole" ] || set -- "$@" "$entry"
  done
  mv "$@" "$spool/" && { [ -d jobs ] || mkdir jobs; }
}

add() {
  [ -n "$is_furnished" ] || furnish || return 1
  . ./lib.sh
  cat "$incoming/manifest" >>manifest && add_jobs || return 1
  with_lock "$lock" find_idle
}

furnish() {
  for slot in $slots; do
    mkdir -p "slots/$slot" && mv "$incoming/slots/$slot/"* "slots/$slot/" || return 1
  done
  # shellcheck disable=SC2086
  (cd "$incoming" && exec mv $scripts settings "$spool/")
}

# A job that is there already is not touched: mv refuses to put one directory over another.
add_jobs() {
  mkdir -p jobs || return 1
  # Asked twice, since the link was lost before the answer, a job may have come and gone meanwhile.
  [ ! -e events ] || sed -n 's/^freed //p' events | while read -r key; do
    [ ! -d "$incoming/jobs/$key" ] || rm -rf "$incoming/jobs/$key"
  done
  [ ! -d "$incoming/jobs" ] || mv "$incoming/jobs/"* jobs/ 2>/dev/null
  for job in "$incoming"/jobs/*; do
    [ ! -d "$job" ] || [ -d "jobs/${job##*/}" ] || echo "missing ${job##*/}"
  done
}

# Under the lock under which a loop decides to end: one that is there finds the jobs by itself, and would make a second
# one leave.
find_idle() {
  idle=
  for slot in $slots; do
    is_live "slots/$slot/loop" || idle="$idle $slot"
  done
}
