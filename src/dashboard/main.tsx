import 'uplot/dist/uPlot.min.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { followChain } from './data/chain.ts'

const place = document.getElementById('page')
if (place !== null) {
  place.replaceChildren()
  render(<App />, place)
}
void followChain()
