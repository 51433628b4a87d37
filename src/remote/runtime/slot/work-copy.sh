# Makes the directory that a job runs in: a copy of its tree.

# The first line of a command names the tree its job begins with; "-": it begins in an empty directory; "@": it runs in
# place, where the user is, and what it leaves there is nobody's but theirs.
name_tree() {
  [ "$named" != "$dir" ] || return 0
  named=''
  tree='' tree_has_directories='' tree_is_large='' needs_own_shell=''
  { read -r _ tree tree_has_directories tree_is_large needs_own_shell <"$dir/command"; } 2>/dev/null
  case $tree in - | @) ;; *) tree=${tree:+$root/trees/$tree} ;; esac
  [ -n "$tree" ] && named=$dir
}

# The slot's jobs follow each other in one directory, as long as they leave it as it was: a copy is made once, not for
# each. "copied" says of which tree it is, and whether that is all there; "fresh" is older than what any job changes.
has_work_copy() {
  [ "$tree" = @ ] || { [ "$copied" = "$boot_id whole $tree" ] && is_directory "$mine/work" && is_open "$mine/work"; }
}

# A job may have put a link to anywhere in place of a directory of ours, which must never be followed.
is_directory() {
  [ -d "$1" ] && [ ! -h "$1" ]
}

is_open() {
  [ -r "$1" ] && [ -w "$1" ] && [ -x "$1" ]
}

make_work() {
  tell
  made=$copied
  note_copied ''
  [ "$made" = "$boot_id part $tree" ] && is_directory "$mine/work" || made=
  if { [ -z "$made" ] && ! clear_work; } || ! copy_tree; then
    clear_work
    is_disk_full && put_back && return 1
    echo "sshoal: the working directory could not be copied for this job" >&2
    return 125
  fi
  true >"$mine/fresh"
  note_copied "$boot_id whole $tree"
  [ "$tree" = - ] || remember_copy
}

# For is_as_copied, which compares with what is here now.
remember_copy() {
  wait_for_clock
}

# File times move in steps of up to 10 ms: what the job changes must be later than "fresh". Not every test compares
# more than whole seconds.
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

# What cannot be removed is put aside, or the tree would be copied into it.
clear_work() {
  remove "$mine/work" || mv "$mine/work" "$mine/aside.$key"
}

remove() {
  ! is_there "$1" || rm -rf "$1" 2>/dev/null || { is_directory "$1" && chmod -R u+rwx "$1" && rm -rf "$1"; }
}

copy_tree() {
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

# Where the filesystem can, a copy shares its blocks until one of them is written to. A cp that does not know the word for
# it has done nothing.
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

# Nothing of it has run: another slot or machine may have more room. The claim goes last.
put_back() {
  rm -f "$mine/ballast" "$dir/err" "$dir/claim" && is_put_back=yes
}
