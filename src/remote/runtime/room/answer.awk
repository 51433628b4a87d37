# Prints what a job gets.

# The claim has the seven words that earlier versions read. Its cards follow, each with what the job has of it.
function print_start(need,   p, card, uuids) {
  uuids = ""
  for (p = 1; p <= picks; p++) uuids = uuids (p > 1 ? "," : "") card_uuid[pick_card[p]]
  print "start " need_key[need] " " need_kind[need] " " nine_digits(need_mb[need]) " " decimal(need_cores[need]) " " \
    nine_digits(picks ? card_mb[need] : 0) " " decimal(picks ? pick_share[1] : 0) " " \
    (picks && whole[need] > 0 && is_alone[need] ? 1 : 0) " " need_machine[need] " " (uuids == "" ? "-" : uuids)
  for (p = 1; p <= picks; p++) {
    card = pick_card[p]
    print "card " whole_number(card_index[card]) " " card_uuid[card] " " card_maker[card] " " whole_number(card_mb[need]) " " \
      whole_number(pick_share[p]) " " whole_number(pick_amount[p]) " " (((card, "m") in flag) ? 1 : 0)
  }
  for (p = 1; p <= gots; p++)
    print "got " instance_resource[got_instance[p]] " " instance_name[got_instance[p]] " " whole_number(got_amount[p])
}

# Shells calculate with it.
function nine_digits(number) {
  return whole_number(number > 999999999 ? 999999999 : number)
}

# mawk prints large numbers with an exponent, and its %d ends at 2^31.
function whole_number(number) {
  return number == 0 ? "0" : sprintf("%.0f", number)
}

# Thousandths as a decimal number: 1500 is 1.5.
function decimal(milli,   rest, digits) {
  rest = milli % 1000
  if (rest == 0) return whole_number(milli / 1000)
  digits = sprintf("%03d", rest)
  sub(/0+$/, "", digits)
  return whole_number((milli - rest) / 1000) "." digits
}
