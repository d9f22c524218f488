/** Leads back to this page. */
export function signInAddress(): string {
  return `/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`
}
