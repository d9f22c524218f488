/** What is forgotten only when something fails in the middle, which seeded worlds meet. */
import { type Change, changesIn } from '../change.ts'

const inWorlds = { tests: ['test/worlds/worlds.test.ts'], named: 'worlds from' }

export const worlds: readonly Change[] = [
  ...changesIn('src/uploads/request-uploads.ts', inWorlds, [['      await this.#reserved.release()\n', '']]),
  ...changesIn('src/uploads/reservations.ts', inWorlds, [
    ['if (!this.#hasRow && !(error instanceof Refusal)) failed.add(this.key, this.#account)', ''],
  ]),
  ...changesIn('src/sharing/links/link-slots.ts', inWorlds, [
    ['end(link, id, what, { back, bytes })', 'end(link, id, what, { back: 0, bytes })'],
  ]),
  ...changesIn('src/files/expiry.ts', inWorlds, [
    ['const cutoff = lifetime.cutoff(at)', 'const cutoff = lifetime.cutoff()'],
  ]),
]
