import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The address that a caller counts by: an IPv6 address by its /64, and an IPv4 address in IPv6 form as that. */
export function callerAddress(ip: string): string {
  if (!isIPv6(ip) || !ipaddr.isValid(ip)) return ip.toLowerCase()
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  const network = address.toByteArray().fill(0, 8)
  return ipaddr.fromByteArray(network).toString()
}
