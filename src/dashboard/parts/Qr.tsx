import { encode } from 'uqr'

/** The light modules around a code. Source: ISO/IEC 18004. */
const QUIET = 4

/** A text as a QR code, dark on light in every theme: many readers take no other. */
export function Qr({ text, label }: { readonly text: string; readonly label: string }) {
  const { size, data } = encode(text, { ecc: 'M', border: QUIET })
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return (
    <svg class='qr' viewBox={`0 0 ${size} ${size}`} role='img' aria-label={label} shape-rendering='crispEdges'>
      <rect width={size} height={size} fill='#fff' />
      <path d={path} fill='#000' />
    </svg>
  )
}
