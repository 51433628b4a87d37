#compdef @PROGRAMS@
# Completes the words of sshoal and of the programs that come with it. The build makes this file from the option definitions.
# Names come from files: none of them is ever evaluated.

_sshoal() {
  local curcontext=$curcontext context state state_descr line ret=1
  local -A opt_args
  case $service in
    @PROGRAM_CASES@
  esac
  return ret
}

@FUNCTIONS@

# A word that is no option: one more of the list of the last option, or else an argument of kind $1.
_sshoal_word() {
  local -a flags=(${(M)words[1,CURRENT-1]:#-*})
  case $flags[-1] in
    @LIST_CASES@
    *) _sshoal_value $1 ;;
  esac
}

_sshoal_value() {
  case $1 in
    none) return 1 ;;
    files) _files ;;
    # A machine may also be named by a path.
    machines) _sshoal_names machines || _files ;;
    *) _sshoal_names $1 ;;
  esac
}

# Names of a kind that only this computer knows, each with what it is.
_sshoal_names() {
  local -a names
  local name about
  while IFS=$'\t' read -r name about; do
    name=${name//\\/\\\\}
    names+=("${name//:/\\:}:$about")
  done < <(command sshoal complete-words $1 -- "${(Q)PREFIX}" 2>/dev/null </dev/null)
  _describe -t $1 $1 names
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _sshoal "$@"
elif (( $+functions[compdef] )); then
  compdef _sshoal @PROGRAMS@
fi
