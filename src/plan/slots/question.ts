// What the allocator decides from: facts, claims and needs. All numbers are whole: MB, and thousandths of cores, cards, shares
// and resources. So runtime/room.awk, which reads the same as text, computes exactly the same.

export interface Question {
  /** The batch whose jobs are asked for. */
  readonly batch: string;
  /** Its account; null: claims of all accounts count as its own. */
  readonly account: string | null;
  readonly packs: boolean;
  readonly isPolite: boolean;
  /** Null, here and below: unknown. */
  readonly memoryFreeMb: number | null;
  readonly coresMilli: { readonly total: number; readonly busy: number } | null;
  /** What is reserved for people. */
  readonly keep: { readonly memoryMb: number; readonly coresMilli: number; readonly cards: number };
  readonly maxJobs: number | null;
  readonly cards: readonly RoomCard[];
  readonly instances: readonly Instance[];
  readonly claims: readonly RoomClaim[];
  /** In the order in which their first jobs wait. */
  readonly needs: readonly Need[];
}

export interface RoomCard {
  readonly index: number;
  readonly uuid: string;
  readonly maker: string;
  readonly totalMb: number | null;
  readonly freeMb: number | null;
  readonly useMilli: number | null;
  readonly isExclusive: boolean;
  readonly sharesHostMemory: boolean;
  readonly isMig: boolean;
  /** It is used, although its free memory cannot be measured. */
  readonly isTrusted: boolean;
  /** Processes other than those of claims use it. */
  readonly isForeign: boolean;
  /** One of them belongs to another person. */
  readonly isOfPerson: boolean;
  /** Why it gets no job; null: usable. */
  readonly unusable: string | null;
  /** The machine file leaves it out. */
  readonly isExcluded: boolean;
  /** Slices with a common memory have the same one; null: its memory is its own. */
  readonly group: string | null;
}

/** One of a named resource. */
export interface Instance {
  readonly name: string;
  readonly instance: string;
  readonly capacityMilli: number;
}

export interface Holder {
  readonly owner: string;
  readonly batch: string;
  readonly job: string;
}

export interface RoomClaim extends Holder {
  readonly memoryMb: number;
  readonly usedMb: number | null;
  readonly coresMilli: number;
  readonly reservesMachine: boolean;
  readonly cards: readonly CardClaim[];
  readonly resources: readonly { readonly name: string; readonly instance: string; readonly milli: number }[];
}

interface CardClaim {
  readonly uuid: string;
  readonly memoryMb: number;
  readonly shareMilli: number;
  readonly amountMilli: number;
  readonly usedMb: number | null;
}

export interface Need {
  /** Its first waiting job. */
  readonly key: string;
  readonly memoryMb: number;
  readonly coresMilli: number;
  readonly reservesMachine: boolean;
  readonly cards: CardNeed | null;
  readonly wants: readonly Want[];
}

export interface CardNeed {
  readonly whole: number;
  /** A part of one more card; 0: none. */
  readonly partMilli: number;
  readonly memoryMb: number;
  readonly shareMilli: number;
  /** The whole cards are for the job alone. */
  readonly isAlone: boolean;
  /** By index, or by UUID; null: all cards. */
  readonly candidates: readonly string[] | null;
  /** The user chose these cards, each as often as it may be used at the same time. */
  readonly isListed: boolean;
}

/** Each amount comes from another instance. */
export interface Want {
  readonly name: string;
  readonly amounts: readonly number[];
}

/** How many cards a job uses. */
export function cardCount({ whole, partMilli }: CardNeed): number {
  return whole + (partMilli > 0 ? 1 : 0);
}

/** Another account can have a batch of the same name. */
export function isOurs({ batch, account }: Question, claim: Holder): boolean {
  return claim.batch === batch && isOfAccount(account, claim);
}

export function isOfAccount(account: string | null, { owner }: Holder): boolean {
  return account === null || owner === account;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
