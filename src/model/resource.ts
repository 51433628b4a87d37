// Names and amounts of resources: what a job may ask for, and what a machine may have.

/** The most of anything: amounts are counted in thousandths, in numbers of at most nine digits. */
const MOST_OF_A_RESOURCE = 999_999;
/** The most amounts of one resource, and the most resources, of one job or one machine. */
export const MOST_AMOUNTS = 64;

/** Names with a meaning of their own in objects, such as constructor, are no names of resources. */
export function isResourceName(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(name) && !(name in Object.prototype);
}

/** A resource, or one of a queue's own: `gpu@train`. Users type no such name, so a queue cannot take what another one has. */
export function isPooledName(name: string): boolean {
  const [own = "", pool, ...rest] = name.split("@");
  return isResourceName(own) && rest.length === 0 && (pool === undefined || /^[\w.-]{1,63}$/.test(pool));
}

/** As commands name it in braces. */
export function withoutPool(name: string): string {
  return name.replace(/@.*/, "");
}

/** Above 0, with at most three decimals. */
export function isResourceAmount(amount: unknown): amount is number {
  if (typeof amount !== "number" || !(amount > 0 && amount <= MOST_OF_A_RESOURCE)) return false;
  return Math.abs(amount * 1000 - Math.round(amount * 1000)) < 1e-6;
}
