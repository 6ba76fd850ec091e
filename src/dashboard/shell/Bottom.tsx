import { useState } from 'preact/hooks'
import { gatewayUrl } from '../data/gateway.ts'
import { keep, readKept } from '../data/kept.ts'
import { VerifySwitch } from '../parts/Verified.tsx'

type Theme = 'light' | 'dark' | undefined

const KEY = 'svcd-theme'

function readTheme(): Theme {
  const kept = readKept('localStorage', KEY)
  return kept === 'light' || kept === 'dark' ? kept : undefined
}

function applyTheme(theme: Theme): void {
  if (theme === undefined) delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
  // Plots are drawn with the colours of the moment: they listen for this.
  dispatchEvent(new Event('themechange'))
}

applyTheme(readTheme())

const NEXT: Readonly<Record<string, Theme>> = { system: 'light', light: 'dark', dark: undefined }

export function Bottom() {
  const [theme, setTheme] = useState<Theme>(readTheme)
  const change = (): void => {
    const next = NEXT[theme ?? 'system']
    setTheme(next)
    applyTheme(next)
    keep('localStorage', KEY, next ?? null)
  }
  return (
    <footer class='bottom'>
      <span>
        Everything here comes from the gateway at <span class='mono'>{gatewayUrl}</span> and its node.
      </span>
      <VerifySwitch />
      <button type='button' class='quiet' onClick={change}>
        Colours: {theme ?? 'as the system'}
      </button>
    </footer>
  )
}
