/** What a form cannot do: signing in with a passkey, and telling how good a new password is while it is typed. */
import { readPageData } from '../shared/page-data.ts'
import { knowsPasskeys } from '../shared/passkey-support.ts'
import { PASSKEY_BUTTON, PASSKEY_PROBLEM, type SignInPageData, STRENGTH } from './data.ts'

const { next, texts } = readPageData<SignInPageData>()
const button = document.getElementById(PASSKEY_BUTTON)
const problem = document.getElementById(PASSKEY_PROBLEM)

if (button !== null && knowsPasskeys()) {
  button.hidden = false
  button.addEventListener('click', () => void signIn())
}

const meter = document.getElementById(STRENGTH)
if (meter !== null) {
  // The form works without it.
  import('./meter.ts').then(({ watchPassword }) => watchPassword(meter, texts.strength)).catch(() => {})
}

async function signIn(): Promise<void> {
  if (problem !== null) problem.textContent = ''
  try {
    const { signInByPasskey } = await import('./passkey.ts')
    if (await signInByPasskey()) location.assign(next)
  } catch (error) {
    // Somebody who has changed their mind is told nothing.
    if (error instanceof DOMException && error.name === 'NotAllowedError') return
    if (problem !== null) problem.textContent = texts.passkeyFailed
  }
}
