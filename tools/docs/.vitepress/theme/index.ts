import Theme from 'vitepress/theme-without-fonts'
import './style.css'
import Playground from './Playground.vue'

/** VitePress's own theme in our colours and type, and the playground. */
export default {
  extends: Theme,
  enhanceApp({ app }) {
    app.component('Playground', Playground)
  },
}
