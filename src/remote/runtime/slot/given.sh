# What a job is given: the cards that it sees, and the names of everything that it has.

# The maker of the cards; their names, with commas; named resources, as "licence:0"; the lines of the claim for both; and
# the variables that choose the cards.
vendor='' given_cards='' given_parts='' given_lines='' devices=''
# The variables as they are at login.
login_cuda=${CUDA_VISIBLE_DEVICES-unset} login_order=${CUDA_DEVICE_ORDER-unset} login_rocr=${ROCR_VISIBLE_DEVICES-unset}

give_nothing() {
  vendor='' given_cards='' given_parts='' given_lines=''
}

# Takes a line of the answer: card <index> <uuid> <vendor> <MB> <share> <amount> <1 if it is a MIG slice>.
give_card() {
  vendor=$third
  given_lines="${given_lines}on $second ${rest% *}$newline"
  # UUIDs break some programs, so whole cards are named by their index.
  [ "${rest##* }" != 1 ] || first=$second
  given_cards="$given_cards${given_cards:+,}$first"
}

# Takes a line of the answer: got <resource> <instance> <amount>.
give_part() {
  given_lines="${given_lines}has $first $second $third$newline"
  given_parts="$given_parts${given_parts:+,}$first:$second"
}

# Sets $devices and exports what is in it. A job that has the whole machine sees every card.
set_devices() {
  devices=
  case $vendor$held_machine in
    nvidia0) devices="CUDA_VISIBLE_DEVICES=$given_cards CUDA_DEVICE_ORDER=PCI_BUS_ID" ;;
    # Setting HIP's variable as well can hide every card.
    amd0) devices="ROCR_VISIBLE_DEVICES=$given_cards" ;;
  esac
  forget_devices
  for device in $devices; do export "${device?}"; done
}

forget_devices() {
  restore CUDA_VISIBLE_DEVICES "$login_cuda"
  restore CUDA_DEVICE_ORDER "$login_order"
  restore ROCR_VISIBLE_DEVICES "$login_rocr"
}

# restore VARIABLE VALUE
restore() {
  if [ "$2" = unset ]; then unset "$1"; else export "$1=$2"; fi
}

# Writes a copy of the command in which the names between braces that the file "names" lists are those of what the job
# has. Sets $script.
name_given() {
  script=$dir/command
  [ -e "$dir/names" ] || return 0
  LC_ALL=C awk -v cards="$given_cards" -v parts="$given_parts" -f names.awk "$dir/names" "$dir/command" >"$dir/named" || return 125
  script=$dir/named
}
