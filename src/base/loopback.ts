/**
 * True for localhost and the loopback addresses, an IPv6 address with or without brackets, in any letter case. Only
 * programs on this machine can connect there.
 */
export const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[?::1\]?)$/i.test(host)
