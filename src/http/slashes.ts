/** Where slashes that are repeated, or at the end, lead to the route as if they were not there. */
const TOLERANT = /^\/(?:api\/v1|file\/delete|folder\/delete|d|f)(?=\/|$)/

/** The path without repeated and trailing slashes; the same where these mean something. */
export function cleanPath(path: string): string {
  if (!path.includes('//') && !path.endsWith('/')) return path
  const cleaned = path
    .split('/')
    .filter((segment) => segment !== '')
    .join('/')
  return TOLERANT.test(`/${cleaned}`) ? `/${cleaned}` : path
}
