// How both sides of a joined machine's link notice that the other one is gone, within about 15 seconds.

export const KEEPALIVE = { keepaliveInterval: 5000, keepaliveCountMax: 2 } as const;
