/** Fields that say by themselves what they are. */
const NAMED = '[aria-label], [aria-labelledby], [type="hidden"]'

/**
 * Swagger UI writes the name of a parameter into the row before its field, where nobody is told of it who hears the page.
 * Gives every field under `place` that has no label its name, also those that come later.
 */
export function labelFields(place: HTMLElement): void {
  const label = () => {
    for (const field of place.querySelectorAll<Field>('input, select, textarea')) {
      if (field.matches(NAMED) || (field.labels?.length ?? 0) > 0) continue
      field.setAttribute('aria-label', nameOf(field))
    }
  }
  new MutationObserver(label).observe(place, { childList: true, subtree: true })
  label()
}

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

function nameOf(field: Field): string {
  const row = field.closest<HTMLElement>('[data-param-name], [data-property-name]')
  const { paramName, propertyName } = row?.dataset ?? {}
  const isBody = field.closest('.opblock-section-request-body') !== null
  return paramName ?? propertyName ?? (isBody ? 'Request body' : 'Media type')
}
