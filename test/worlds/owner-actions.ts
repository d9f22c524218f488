/** What changes whose a file is, or that it may be there at all: receipts, take-downs, links that are revoked. */
import { COMMAND_LINE } from '../../src/domain/audit.ts'
import { type Action, isPlain, type Stage, somePlace } from './actions.ts'
import type { ModelFile } from './model.ts'

/** A guest's file that was acknowledged. */
function guestsFile({ chance, model }: Stage): ModelFile | null {
  const files = [...model.files.values()].filter(
    ({ by, uuid, mayBeThere }) => by.kind === 'guest' && uuid !== null && mayBeThere,
  )
  return files.length === 0 ? null : chance.pick(files)
}

/** By its receipt a guest's file becomes an account's. */
export const claim: Action = async (stage) => {
  const { chance, accounts, model, services } = stage
  const file = guestsFile(stage)
  if (file === null || file.uuid === null) return
  const { receipts } = services.uploads
  const by = chance.pick(accounts)
  const place = somePlace(stage, by)
  const before = file.places
  file.places = new Set([...before, place])
  file.moves++
  file.to.add(by)
  model.refresh(file)
  try {
    const text = receipts.of(file.uuid)
    await receipts.claim({ text, bucket: '192.0.2.8' }, { reach: by, place })
    // One that was claimed twice is where the first claim has put it.
    if (file.moves === 1 && file.by.kind === 'guest' && before.size === 1) file.places = new Set([place])
    file.by = by
  } catch (error) {
    if (isPlain(error) && file.moves === 1) file.places = before
    throw error
  } finally {
    file.moves--
  }
}

/** By its receipt a guest's file is deleted. */
export const redeem: Action = async (stage) => {
  const file = guestsFile(stage)
  if (file === null || file.uuid === null) return
  const { receipts } = stage.services.uploads
  stage.model.ending(file)
  await receipts.redeem({ text: receipts.of(file.uuid), bucket: '192.0.2.8' })
  file.mayBeThere = false
}

/** One of the accounts leaves; the two others have what they had. */
export const leave: Action = async ({ accounts, model, services }) => {
  const account = accounts[2]
  if (account === undefined) return
  model.leaving(account)
  await services.removeAccount(account.account)
  model.left(account)
}

export const takeDown: Action = async ({ chance, model, services }) => {
  const files = [...model.files.values()].filter(({ mayBeThere }) => mayBeThere)
  if (files.length === 0) return
  const { sha256 } = chance.pick(files)
  model.refusing(sha256)
  await services.sharing.takeDowns.content(COMMAND_LINE, sha256)
  model.refused(sha256)
}

/** From the answer on nothing arrives by it. */
export const revokeUploadLink: Action = async ({ chance, model, services }) => {
  const links = model.uploadLinks.filter(({ isRevoked }) => !isRevoked)
  if (links.length === 0) return
  const link = chance.pick(links)
  await services.sharing.links.revoke(link.by, link.slug)
  link.isRevoked = true
}
