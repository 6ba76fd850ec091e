import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** An address in brackets or with a port. Some proxies name their caller's port, which differs for each connection. */
const IN_BRACKETS_OR_WITH_PORT = /^(?:\[([^[\]]+)\](?::\d+)?|([\d.]+):\d+)$/

/**
 * The address that a caller counts by: an IPv6 address by its /64, an IPv4 address in IPv6 form as that, and none by its
 * port.
 */
export function callerAddress(named: string): string {
  const [, ipv6, ipv4] = IN_BRACKETS_OR_WITH_PORT.exec(named) ?? []
  const ip = ipv6 ?? ipv4 ?? named
  if (!isIPv6(ip) || !ipaddr.isValid(ip)) return ip.toLowerCase()
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  const network = address.toByteArray().fill(0, 8)
  return ipaddr.fromByteArray(network).toString()
}
