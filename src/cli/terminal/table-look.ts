// How wide tables may be on this terminal, and with which signs. In a pipe, a program or grep reads whole rows.

import { abilitiesOf } from "../../report/live/abilities.js";
import type { StatusLook } from "../../report/tables/status-rows.js";
import { signsOf } from "../../report/text/signs.js";

export function tableLook(): StatusLook {
  const { isTTY = false, columns, rows } = process.stdout;
  const { useUnicode } = abilitiesOf({ isTTY, columns, rows, env: process.env });
  const width = columns || 80;
  return { signs: signsOf(useUnicode), columns: width, rowColumns: isTTY ? width : Number.POSITIVE_INFINITY };
}
