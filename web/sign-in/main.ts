/** What a form cannot do: signing in with a passkey, telling how good a new password is while it is typed, and being sent once. */
import { zoneHere } from '../../src/domain/days.ts'
import { readPageData } from '../shared/page-data.ts'
import { knowsPasskeys, passkeyObstacle } from '../shared/passkey-support.ts'
import { watchPasswordFields } from '../shared/password-fields.ts'
import { sendFormsOnce } from '../shared/send-once.ts'
import { createWords } from '../shared/words.ts'
import { claimable, filesIn, wishForClaim } from '../uploads/claims/claiming.ts'
import { openReceiptStore } from '../uploads/receipts.ts'
import { storage } from '../uploads/storage.ts'
import { CLAIM, PASSKEY_BUTTON, PASSKEY_PROBLEM, type SignInPageData, STRENGTH } from './data.ts'

const { next, texts, locale } = readPageData<SignInPageData>()
const button = document.getElementById(PASSKEY_BUTTON)
const problem = document.getElementById(PASSKEY_PROBLEM)

sendFormsOnce()
watchPasswordFields()

/** Browsers fail a request for a passkey while another is on its way. */
let isSigningIn = false

const obstacle = passkeyObstacle(texts.passkeyPlace)
if (button !== null && obstacle === null && knowsPasskeys()) {
  button.hidden = false
  button.addEventListener('click', () => void signIn())
}
if (problem !== null && obstacle !== null) {
  problem.className = 'quiet'
  problem.textContent = obstacle
}

const meter = document.getElementById(STRENGTH)
if (meter !== null) {
  // The form works without it.
  import('./meter.ts').then(({ watchPassword }) => watchPassword(meter, texts.strength)).catch(() => {})
}

const claim = document.getElementById(CLAIM)
const many = claim === null ? 0 : filesIn(claimable(openReceiptStore(storage())))
if (claim !== null && many > 0) offerClaim(claim)

/** It happens on the next page, once there is a session. */
function offerClaim(choice: HTMLElement): void {
  const [box, text] = [choice.querySelector('input'), choice.querySelector('span')]
  if (text !== null) text.textContent = createWords(locale, zoneHere()).count(many, texts.claim)
  choice.hidden = false
  choice.closest('form')?.addEventListener('submit', () => wishForClaim(storage(), box?.checked ?? false))
}

async function signIn(): Promise<void> {
  if (isSigningIn) return
  isSigningIn = true
  if (problem !== null) problem.textContent = ''
  try {
    const { signInByPasskey } = await import('./passkey.ts')
    if (await signInByPasskey()) location.assign(next)
  } catch (error) {
    // Somebody who has changed their mind is told nothing.
    if (error instanceof DOMException && error.name === 'NotAllowedError') return
    if (problem !== null) problem.textContent = texts.passkeyFailed
  } finally {
    isSigningIn = false
  }
}
