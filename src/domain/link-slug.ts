import { Refusal } from './errors.ts'
import type { LinkSlug } from './ids.ts'

const SHAPE = /^[a-z0-9](?:-?[a-z0-9])*$/
const [SHORTEST, LONGEST] = [3, 64]

/** Words that would disguise a link as a page of the server or its operator. */
const RESERVED = [
  'about',
  'abuse',
  'account',
  'accounts',
  'admin',
  'administrator',
  'api',
  'assets',
  'billing',
  'contact',
  'docs',
  'download',
  'downloads',
  'file',
  'files',
  'folder',
  'folders',
  'health',
  'help',
  'holdfast',
  'home',
  'invite',
  'legal',
  'link',
  'links',
  'login',
  'logout',
  'mail',
  'moderator',
  'official',
  'operator',
  'password',
  'privacy',
  'receipt',
  'register',
  'reset',
  'root',
  'security',
  'settings',
  'share',
  'sign-in',
  'sign-out',
  'sign-up',
  'signin',
  'signup',
  'staff',
  'status',
  'support',
  'system',
  'terms',
  'upload',
  'uploads',
  'verify',
  'webmaster',
  'welcome',
  'www',
]

const LOOK_ALIKES: readonly (readonly [RegExp, string])[] = [
  [/-/g, ''],
  [/0/g, 'o'],
  [/[1i]/g, 'l'],
  [/5/g, 's'],
  [/rn/g, 'm'],
  [/vv/g, 'w'],
]

export function slugSkeleton(slug: string): string {
  return LOOK_ALIKES.reduce((text, [alike, one]) => text.replace(alike, one), slug)
}

const reservedLooks = new Set(RESERVED.map(slugSkeleton))

export function isLinkSlug(text: string): text is LinkSlug {
  return text.length >= SHORTEST && text.length <= LONGEST && SHAPE.test(text)
}

/** Throws Refusal INVALID_NAME. */
export function parseLinkSlug(text: string): LinkSlug {
  if (!isLinkSlug(text)) {
    throw new Refusal(
      'INVALID_NAME',
      `"slug": has ${SHORTEST} to ${LONGEST} of a–z, 0–9 and single hyphens between them`,
    )
  }
  if (reservedLooks.has(slugSkeleton(text))) {
    throw new Refusal(
      'INVALID_NAME',
      '"slug": this one is reserved, or looks like a reserved one; choose another',
    )
  }
  return text
}
