export function showPresentSection(): void {
  const links = document.querySelector('.sections > .page-nav')
  const present = links?.querySelector<HTMLElement>('[aria-current]')
  if (!links || !present) return
  links.scrollLeft = present.offsetLeft - (links.clientWidth - present.offsetWidth) / 2
}
