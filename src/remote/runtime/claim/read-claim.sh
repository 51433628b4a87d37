# Reads the claim of a slot, for slots and for the probe. docs/slot.md describes its format.

# read_claim FILE: sets $memory, $cpus, $gpu_memory, $gpu_use, $gpu, $machine and $cards. Fails for an incomplete claim.
read_claim() {
  { read -r memory cpus gpu_memory gpu_use gpu machine cards _ <"$1"; } 2>/dev/null || return 1
  is_amount "$memory" && is_amount "$gpu_memory" && is_fraction "$cpus" && is_fraction "$gpu_use" || return 1
  case $gpu$machine in [01][01]) ;; *) return 1 ;; esac
  cards=${cards:--}
}

# At most nine digits, because shells calculate with it. A leading zero would make it octal, and bash would execute the
# index of an array.
is_amount() {
  case $1 in '' | *[!0-9]* | 0?* | ??????????*) return 1 ;; esac
}

is_fraction() {
  case $1 in '' | *[!0-9.]* | .* | *. | *.*.* | ????????????????*) return 1 ;; esac
}
