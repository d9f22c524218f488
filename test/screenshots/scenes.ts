/** What is shown in docs/images. */
import type { Page } from 'playwright-core'
import type { Demo } from './demo.ts'

export type Look = 'light' | 'dark' | 'phone'

export interface Scene {
  readonly name: string
  readonly looks: readonly Look[]
  /** Opens the page and brings it into the state that is to be seen. */
  show(page: Page, demo: Demo): Promise<void>
}

export const scenes: readonly Scene[] = [
  {
    name: 'start',
    looks: ['light', 'dark', 'phone'],
    show: (page) => open(page, '/'),
  },
  {
    name: 'file-image',
    looks: ['light', 'dark', 'phone'],
    show: (page, { picture }) => open(page, `/d/${picture.slug}`),
  },
  {
    name: 'file-video',
    looks: ['light', 'dark'],
    async show(page, { video }) {
      await open(page, `/d/${video.slug}`)
      await page.evaluate(playTo(3))
    },
  },
  {
    name: 'file-text',
    looks: ['light', 'dark'],
    show: (page, { text }) => open(page, `/d/${text.slug}`),
  },
  {
    name: 'folder-gallery',
    looks: ['light', 'dark', 'phone'],
    show: (page, { gallery }) => open(page, `/f/${gallery}`),
  },
  {
    name: 'folder-list',
    looks: ['light', 'phone'],
    show: (page, { list }) => open(page, `/f/${list}?sort=name`),
  },
  {
    name: 'password',
    looks: ['light', 'phone'],
    show: (page, { locked }) => open(page, `/f/${locked}`),
  },
]

async function open(page: Page, path: string): Promise<void> {
  await page.goto(path, { waitUntil: 'networkidle' })
}

/** Runs in the page: the video stands at that second, with its picture there. */
const playTo = (second: number) => `new Promise((resolve) => {
  const video = document.querySelector('video')
  video.addEventListener('seeked', resolve, { once: true })
  video.currentTime = ${second}
})`
