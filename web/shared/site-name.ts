/** Name of the `<meta>` with the name of the site. */
export const SITE_NAME = 'application-name'

/** Title of a page whose script knows a better one than the server did. */
export function titleOf(subject: string): string {
  const site = document.querySelector<HTMLMetaElement>(`meta[name="${SITE_NAME}"]`)
  return site === null ? subject : `${subject} · ${site.content}`
}
