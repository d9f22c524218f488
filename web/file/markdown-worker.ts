/** Runs in a worker: turns Markdown into HTML. What is HTML in it stays text, and links keep to safe protocols. */
import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'

addEventListener('message', ({ data }: MessageEvent<string>) => {
  postMessage(micromark(data, { extensions: [gfm()], htmlExtensions: [gfmHtml()] }))
})
