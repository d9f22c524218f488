/** Fields that say by themselves what they are. */
const NAMED = '[aria-label], [aria-labelledby], [type="hidden"]'

/**
 * Swagger UI writes the name of a parameter into the row before its field, where nobody is told of it who hears the page,
 * and tells the answers of one route from those of another by nothing. Gives every field under `place` that has no label
 * its name, and all answers that of their route, also those that come later.
 */
export function labelFields(place: HTMLElement): void {
  const label = () => {
    for (const field of place.querySelectorAll<Field>('input, select, textarea')) {
      if (field.matches(NAMED) || (field.labels?.length ?? 0) > 0) continue
      field.setAttribute('aria-label', nameOf(field))
    }
    for (const region of place.querySelectorAll<HTMLElement>('[role="region"]')) {
      if (!region.matches(NAMED)) region.setAttribute('aria-label', `Responses of ${routeOf(region)}`)
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

function routeOf(part: HTMLElement): string {
  const route = part.closest('.opblock')
  const method = route?.querySelector('.opblock-summary-method')?.textContent ?? ''
  return `${method} ${route?.querySelector<HTMLElement>('[data-path]')?.dataset.path ?? ''}`
}
