# Makes the directory that a job runs in: a copy of its tree.

# Sets $tree from the first line of the command; "-": the job has an empty directory. "@" there: the job runs in place, in
# the user's own directory, which slots never change; the empty one is for its results.
name_tree() {
  [ "$named" != "$dir" ] || return 0
  named='' runs_in_place=''
  tree='' tree_has_directories='' tree_is_large='' needs_own_shell=''
  { read -r _ tree tree_has_directories tree_is_large needs_own_shell <"$dir/command"; } 2>/dev/null
  case $tree in
    -) ;;
    @) tree=- runs_in_place=yes ;;
    *) tree=${tree:+$root/trees/$tree} ;;
  esac
  [ -n "$tree" ] && named=$dir
}

# A job that leaves work/ unchanged passes it on to the next one. "copied" names the tree that work/ is a copy of, and
# whether it is whole.
has_work_copy() {
  [ ! -e "$dir/keep" ] || return 1
  [ "$copied" = "$boot_id whole $tree" ] && is_directory "$mine/work" && is_open "$mine/work"
}

# A job may have replaced its directory by a link, which must never be followed.
is_directory() {
  [ -d "$1" ] && [ ! -h "$1" ]
}

is_open() {
  [ -r "$1" ] && [ -w "$1" ] && [ -x "$1" ]
}

make_work() {
  [ ! -e "$dir/keep" ] || { make_kept_work; return; }
  tell
  made=$copied
  note_copied ''
  [ "$made" = "$boot_id part $tree" ] && is_directory "$mine/work" || made=
  if { [ -z "$made" ] && ! clear_work; } || ! copy_tree "$made"; then
    clear_work
    is_disk_full && put_back && return 1
    echo "sshoal: the working directory could not be copied for this job" >&2
    return 125
  fi
  true >"$mine/fresh"
  note_copied "$boot_id whole $tree"
  [ "$tree" = - ] || remember_copy
}

# For is_as_copied, which compares work/ with its current state.
remember_copy() {
  wait_for_clock
}

# File times advance in steps of up to 10 ms, and changes by the job must be later than "fresh". Gives up after five
# checks, because some versions of [ compare only whole seconds.
wait_for_clock() {
  for try in 1 2 3 4 5; do
    true >"$mine/now"
    [ ! "$mine/now" -nt "$mine/fresh" ] || return 0
    sleep 0.005
  done
}

note_copied() {
  copied=$1
  echo "$1" 2>/dev/null >"$mine/copied"
}

# A directory that cannot be removed is moved aside, because otherwise the tree would be copied into it.
clear_work() {
  remove "$mine/work" || mv "$mine/work" "$mine/aside.$key"
}

remove() {
  ! is_there "$1" || rm -rf "$1" 2>/dev/null || { is_directory "$1" && chmod -R u+rwx "$1" && rm -rf "$1"; }
}

# copy_tree MADE: MADE is "" or describes what work/ already has, as in "copied".
copy_tree() {
  made=$1
  if [ "$tree" = - ]; then
    mkdir "$mine/work"
  elif [ "${made#* }" = "part $tree" ]; then
    set --
    for entry in "$tree"/* "$tree"/.[!.]* "$tree"/..?*; do
      is_there "$entry" && ! is_there "$mine/work/${entry##*/}" && set -- "$@" "$entry"
    done
    [ $# = 0 ] || copy -- "$@" "$mine/work/"
  else
    copy "$tree" "$mine/work"
  fi
}

# Shares blocks with the tree if the file system can. A cp without the option has copied nothing.
copy() {
  complaint=$(cp -a --reflink=auto "$@" 2>&1) && return 0
  if cp --reflink=auto --version >/dev/null 2>&1; then
    printf '%s\n' "$complaint" >&2
    return 1
  fi
  cp -a "$@"
}

is_there() {
  [ -e "$1" ] || [ -h "$1" ]
}

# Called before any of it has run: another slot or machine may have more room. The claim is removed last.
put_back() {
  rm -f "$mine/ballast" "$dir/err" "$dir/claim" && is_put_back=yes
}
