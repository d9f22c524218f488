import { DAY } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { wholeNumber } from '../domain/whole-number.ts'
import { neededPassword } from '../server/requests/fields.ts'
import { type LinkTerms, MOST_DOWNLOADS } from '../sharing/links/link-terms.ts'
import { LINK_DAYS } from './receipt-view.ts'

/**
 * A missing field and an empty password change nothing; other empty fields remove the term. Throws Refusal
 * INVALID_REQUEST.
 */
export function linkTermsOf(form: URLSearchParams, now: number): Omit<LinkTerms, 'uploads'> {
  const [name, message, downloads] = [form.get('name'), form.get('message'), form.get('downloads')]
  return {
    ...(name === null ? {} : { name }),
    ...(message === null ? {} : { message }),
    ...(downloads === null ? {} : { maxDownloads: numberOf(downloads.trim()) }),
    ...endOf(form.get('ends') ?? 'kept', now),
    ...passwordOf(form),
  }
}

function numberOf(text: string): number | null {
  if (text === '') return null
  const number = wholeNumber(text) ?? 0
  if (number >= 1 && number <= MOST_DOWNLOADS) return number
  throw new Refusal('INVALID_REQUEST', `The number of downloads must be from 1 to ${MOST_DOWNLOADS}`)
}

function endOf(text: string, now: number): Pick<LinkTerms, 'endsAt'> {
  if (text === 'kept') return {}
  if (text === 'never') return { endsAt: null }
  const days = LINK_DAYS.find((each) => String(each) === text)
  if (days !== undefined) return { endsAt: now + days * DAY }
  throw new Refusal('INVALID_REQUEST', 'The end must be one of those that the form has')
}

function passwordOf(form: URLSearchParams): Pick<LinkTerms, 'password'> {
  const password = form.get('password') ?? ''
  if (password === '') return form.has('open') ? { password: null } : {}
  if (!neededPassword.safeParse(password).success) {
    throw new Refusal('INVALID_REQUEST', 'This password is too long')
  }
  return { password }
}
