import api from '../../../docs/guide/api.md'
import rclone from '../../../docs/guide/rclone.md'
import sharex from '../../../docs/guide/sharex.md'
import tusClients from '../../../docs/guide/tus-clients.md'
import webhooks from '../../../docs/guide/webhooks.md'
import type { GuideName } from '../guides.ts'

const PLACEHOLDER_URL = 'https://files.example.org'

interface Guide {
  readonly title: string
  readonly html: string
}

const guides: Readonly<Record<GuideName, Guide>> = {
  api,
  webhooks,
  sharex,
  rclone,
  'tus-clients': tusClients,
}

export function guideTitle(name: GuideName): string {
  return guides[name].title
}

export function guideHtml(name: GuideName, publicUrl: string): string {
  return guides[name].html.replaceAll(PLACEHOLDER_URL, publicUrl)
}
