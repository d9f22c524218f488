/** Brings damaged contents back from a backup. */
import { bringBackFrom } from '../integrity/bringing-back.ts'
import type { Heal } from '../integrity/check.ts'
import { openToRead, type TargetOptions } from './target.ts'

export interface Healing {
  readonly heal: Heal
  close(): Promise<void>
}

/** Throws Refusal PRECONDITION_FAILED where there is no backup. */
export async function openHealing(options: TargetOptions): Promise<Healing> {
  const { store, catalog } = await openToRead(options)
  return {
    async heal(parts, { content }) {
      return (await bringBackFrom({ from: store, fromKey: content.key }, content, parts)) === 'back'
    },
    close: () => catalog.release(),
  }
}
