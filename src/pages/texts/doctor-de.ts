import type { Translations } from '../../../web/admin/translated.tsx'

export const doctorTitlesDe: Translations = {
  version: 'Version',
  'disk-space': 'Plattenplatz',
  inodes: 'Platz für weitere Dateien (Inodes)',
  'file-system': 'Dateisystem',
  sync: 'Schreiben bis auf die Platte',
  clock: 'Uhr',
  'database-clock': 'Uhr der Datenbank',
  migrations: 'Version der Datenbank',
  postgresql: 'Was PostgreSQL sicher schreibt',
  autovacuum: 'Autovacuum von PostgreSQL',
  connections: 'Verbindungen zur Datenbank',
  database: 'Datenbank',
  'database-pages': 'Seiten der Datenbank',
  store: 'Speicher',
  'store-checksums': 'Prüfsummen des Speichers',
  'store-parts': 'Teile großer Dateien',
  settings: 'Einstellungen',
  'secret-files': 'Dateien mit Geheimnissen',
  jobs: 'Aufgaben im Hintergrund',
  damage: 'Beschädigte Inhalte',
  scrub: 'Nachlesen gespeicherter Bytes',
  mirror: 'Spiegel',
  backups: 'Sicherungen',
  mail: 'Mail',
  'public-address': 'Öffentliche Adresse',
  'forwarded-address': 'Adressen der Besucher',
  'unknown-proxy': 'Unbekannte Proxys',
  host: 'Hostname',
  'body-limit': 'Größter Inhalt einer Anfrage',
  'request-buffering': 'Uploads durch den Proxy',
  'upload-window': 'Uploads über lange Leitungen',
  'response-buffering': 'Ströme durch den Proxy',
  'time-out': 'Wie lange der Proxy wartet',
  methods: 'Methoden',
  ranges: 'Teile von Dateien',
  metrics: 'Metriken',
  'content-address': 'Adresse der Inhalte',
  certificate: 'Zertifikat',
  http2: 'HTTP/2',
  hsts: 'Immer https (HSTS)',
  'from-http': 'Von http zu https',
}

/** By the English template. */
export const doctorSentencesDe: Translations = {
  'Every program that runs here, of whatever user, can act as this server.':
    'Jedes Programm, das hier läuft, gleich unter welchem Benutzer, kann als dieser Server auftreten.',
  'everybody on this machine can read {0}, the secret of {1}':
    'jeder auf dieser Maschine kann {0} lesen, das Geheimnis von {1}',
  'files with secrets are open to nobody but their owner and group':
    'Dateien mit Geheimnissen kann niemand als ihr Besitzer und dessen Gruppe lesen',
  'Browsers use HTTP/2, and the proxy lets them send no more until it has read that: over a long line uploads crawl, however fast it is.':
    'Browser verwenden HTTP/2, und der Proxy lässt sie erst weiter senden, wenn er das gelesen hat: Über eine lange Leitung kriechen Uploads, wie schnell sie auch ist.',
  'an upload by HTTP/2 ended: {0}': 'ein Upload über HTTP/2 endete: {0}',
  'by HTTP/2 an upload may be {0} ahead: up to {1} a second over a line of {2} ms ({3} ms from here)':
    'über HTTP/2 darf ein Upload {0} voraus sein: bis zu {1} in der Sekunde über eine Leitung von {2} ms (von hier {3} ms)',
  'the certificate ends in {0} hours': 'das Zertifikat endet in {0} Stunden',
  'the certificate is valid for {0} more hours': 'das Zertifikat gilt noch {0} Stunden',
  'A backup that nobody can restore is none.':
    'Eine Sicherung, die niemand wiederherstellen kann, ist keine.',
  'A browser trusts all that comes from one name alike. A second name keeps what strangers upload apart from the site, should a browser ever run it.':
    'Ein Browser vertraut allem, was unter einem Namen kommt, gleich. Ein zweiter Name hält von der Website fern, was Fremde hochladen, falls ein Browser es je ausführt.',
  'A disk that loses bytes is noticed only when somebody needs the file.':
    'Eine Platte, die Bytes verliert, fällt erst auf, wenn jemand die Datei braucht.',
  'A power cut can lose files whose uploads were answered, or the whole database.':
    'Ein Stromausfall kann Dateien kosten, deren Upload schon bestätigt war, oder die ganze Datenbank.',
  'A power cut can lose what was answered as stored.':
    'Ein Stromausfall kann kosten, was als gespeichert gemeldet war.',
  'every page of the database can be read': 'jede Seite der Datenbank ist lesbar',
  'pages cannot be read: {0}': 'nicht lesbare Seiten: {0}',
  'reading all of it takes longer; run "holdfast check --database"':
    'alles zu lesen dauert länger; „holdfast check --database“ tut es',
  'Nothing is lost yet: what is damaged can be made anew from the tables. Requests that need it are refused.':
    'Noch ist nichts verloren: Was beschädigt ist, lässt sich aus den Tabellen neu anlegen. Anfragen, die es brauchen, werden abgelehnt.',
  'Rows are lost, and requests that need them are refused.':
    'Zeilen sind verloren, und Anfragen, die sie brauchen, werden abgelehnt.',
  'A restart deletes all files.': 'Ein Neustart löscht alle Dateien.',
  'A second host name for content cannot be told from the first, and forms of the site are refused as foreign.':
    'Ein zweiter Hostname für Inhalte ist vom ersten nicht zu unterscheiden, und Formulare der Website werden als fremd abgelehnt.',
  'A server cannot start on it.': 'Damit kann kein Server starten.',
  'All are meant to be read within a day. The server reads {0} a second at most.':
    'Alle sollen innerhalb eines Tages gelesen werden. Der Server liest höchstens {0} in der Sekunde.',
  'All are meant to be read within {0} days. The server reads {1} a second at most.':
    'Alle sollen innerhalb von {0} Tagen gelesen werden. Der Server liest höchstens {1} in der Sekunde.',
  'All guests share one limit, and none of them can be told from another.':
    'Alle Gäste teilen sich eine Grenze, und keiner ist vom anderen zu unterscheiden.',
  'All guests share one limit, because the forwarded address of each is not believed.':
    'Alle Gäste teilen sich eine Grenze, weil der weitergereichten Adresse nicht geglaubt wird.',
  'Browsers refuse http content on an https page: pictures, films and downloads stay empty.':
    'Browser verweigern Inhalte über http auf einer Seite mit https: Bilder, Filme und Downloads bleiben leer.',
  'Browsers warn of the site, and programs refuse it.':
    'Browser warnen vor der Website, und Programme lehnen sie ab.',
  'Contents that have no copy there cannot be brought back when their bytes are damaged.':
    'Inhalte, die dort keine Kopie haben, lassen sich nicht zurückholen, wenn ihre Bytes beschädigt sind.',
  'Downloads cannot be resumed, and videos cannot be skipped through.':
    'Downloads lassen sich nicht fortsetzen, und in Videos lässt sich nicht springen.',
  'Downloads wait in its memory or on its disk, and what the site shows as it happens comes late.':
    'Downloads warten in seinem Speicher oder auf seiner Platte, und was die Website sofort zeigen soll, kommt zu spät.',
  'Each stored content needs one; without them the disk counts as full.':
    'Jeder gespeicherte Inhalt braucht eine; ohne sie gilt die Platte als voll.',
  'Each upload is written to its disk first and takes twice as long, progress is wrong, large ones end in time-outs, and what was sent before a line broke is lost.':
    'Jeder Upload wird erst auf seine Platte geschrieben und dauert doppelt so lange, der Fortschritt stimmt nicht, große scheitern an Wartezeiten, und was vor einem Abbruch gesendet war, ist verloren.',
  'Files can be neither stored nor opened.': 'Dateien lassen sich weder speichern noch öffnen.',
  'Files can be opened and not stored.': 'Dateien lassen sich öffnen, aber nicht speichern.',
  'Files cannot be uploaded through this address.': 'Über diese Adresse lassen sich keine Dateien hochladen.',
  'Guests who choose a file in between are refused by a limit that is not about files.':
    'Gäste, die eine Datei dazwischen wählen, scheitern an einer Grenze, die nicht von Dateien handelt.',
  'HTTP/2 is not offered': 'HTTP/2 wird nicht angeboten',
  'HTTP/2 is offered': 'HTTP/2 wird angeboten',
  'It should have been renewed by now; without it nobody gets in.':
    'Es hätte längst erneuert sein sollen; ohne es kommt niemand hinein.',
  'It tells how much is stored, how many accounts there are and what fails.':
    'Es verrät, wie viel gespeichert ist, wie viele Konten es gibt und was scheitert.',
  'Its answers could be forged on their way.': 'Seine Antworten könnten unterwegs gefälscht werden.',
  'Limits for guests hold nobody back, and logs and reports name addresses that are made up.':
    'Grenzen für Gäste halten niemanden auf, und Protokolle und Meldungen nennen erfundene Adressen.',
  'Links begin with the address at which the server listens, which others cannot reach.':
    'Links beginnen mit der Adresse, an der der Server lauscht und die andere nicht erreichen.',
  'Links that begin with this address do not lead to this server.':
    'Links, die mit dieser Adresse beginnen, führen nicht zu diesem Server.',
  'Links, sessions and codes of authenticator apps end too early or too late.':
    'Links, Sitzungen und Codes von Authenticator-Apps enden zu früh oder zu spät.',
  'Lists and counters get slower from week to week.':
    'Listen und Zähler werden von Woche zu Woche langsamer.',
  'Mails wait and are not delivered.': 'Mails warten und werden nicht zugestellt.',
  'No file can be opened or downloaded.': 'Keine Datei lässt sich öffnen oder herunterladen.',
  'No server has run with these settings.': 'Mit diesen Einstellungen lief noch kein Server.',
  'Nobody can open a link that begins with this address, unless only this machine cannot reach it.':
    'Niemand kann einen Link öffnen, der mit dieser Adresse beginnt, es sei denn, nur diese Maschine erreicht sie nicht.',
  'Nobody who forgets a password gets a link for a new one.':
    'Wer sein Passwort vergisst, bekommt keinen Link für ein neues.',
  'Nodes that disagree about the time take each other for dead, and links end too early or too late.':
    'Knoten mit verschiedenen Uhrzeiten halten einander für tot, und Links enden zu früh oder zu spät.',
  'Nothing works without it.': 'Ohne sie geht nichts.',
  'Only this machine can open it.': 'Nur diese Maschine kann sie öffnen.',
  'PUT, PATCH and HEAD arrive': 'PUT, PATCH und HEAD kommen an',
  'Pages with many thumbnails load one after another in batches of six.':
    'Seiten mit vielen Vorschaubildern laden sie nur zu sechst nacheinander.',
  'Passwords, keys and files can be read by everybody on the way.':
    'Passwörter, Schlüssel und Dateien kann jeder auf dem Weg mitlesen.',
  'PostgreSQL runs with {0}': 'PostgreSQL läuft mit {0}',
  'PostgreSQL {0} syncs what it commits': 'PostgreSQL {0} schreibt sicher, was es bestätigt',
  'Resumable uploads need all of them, and so do programs that change files.':
    'Fortsetzbare Uploads brauchen sie alle, ebenso Programme, die Dateien ändern.',
  'SQLite needs locks and syncs that network file systems often only pretend to have.':
    'SQLite braucht Sperren und sicheres Schreiben, die Netzwerk-Dateisysteme oft nur vortäuschen.',
  'Somebody on the way can send a visitor to http.': 'Jemand auf dem Weg kann Besucher auf http umleiten.',
  'Something below answers before bytes are safe (a cache that lies, or a virtual disk with "unsafe" caching): a power cut can lose what was answered as stored.':
    'Etwas darunter meldet Bytes als sicher, bevor sie es sind (ein lügender Cache oder eine virtuelle Platte mit „unsafe“): Ein Stromausfall kann kosten, was als gespeichert gemeldet war.',
  'The address leads to another installation or to an older version, or the proxy drops headers that it does not know.':
    'Die Adresse führt zu einer anderen Installation oder einer älteren Version, oder der Proxy verwirft Header, die er nicht kennt.',
  'The answer to a large upload comes after all of it is safe on disk, which may take minutes: the file is stored, and its sender sees an error.':
    'Die Antwort auf einen großen Upload kommt, wenn alles sicher auf der Platte ist, was Minuten dauern kann: Die Datei ist gespeichert, und wer sie schickt, sieht einen Fehler.',
  'Their files are not sent. The disk, its cable or the memory may be failing, and damage more.':
    'Ihre Dateien werden nicht ausgeliefert. Platte, Kabel oder Speicher sind vielleicht defekt und beschädigen noch mehr.',
  'This program is newer than the server that has run on this database.':
    'Dieses Programm ist neuer als der Server, der mit dieser Datenbank lief.',
  'Uploads are refused, and before long nothing can be changed or deleted.':
    'Uploads werden abgelehnt, und bald lässt sich nichts mehr ändern oder löschen.',
  'Uploads are refused below {0}.': 'Unter {0} werden Uploads abgelehnt.',
  'Uploads of guests are refused below {0}.': 'Unter {0} werden Uploads von Gästen abgelehnt.',
  'Uploads that {0} allows end with an error that Holdfast never sees.':
    'Uploads, die {0} erlaubt, enden mit einem Fehler, den Holdfast nie sieht.',
  'What came since is lost with the disk.': 'Was seither kam, ist mit der Platte verloren.',
  'What changes on its way to the store is noticed only when somebody reads it.':
    'Was sich auf dem Weg zum Speicher ändert, fällt erst auf, wenn jemand es liest.',
  'What it would remove or make stays as it is.':
    'Was sie entfernen oder herstellen würde, bleibt, wie es ist.',
  'When all are busy, some nodes get none, and answer 503.':
    'Sind alle belegt, bekommen manche Knoten keine und antworten mit 503.',
  'Who types the name without https sees an error.': 'Wer den Namen ohne https eingibt, sieht einen Fehler.',
  'Whatever destroys the one destroys the other.': 'Was das eine zerstört, zerstört auch das andere.',
  'Without backups made in another way, everything is lost with the disk.':
    'Ohne Sicherungen auf anderem Weg ist mit der Platte alles verloren.',
  'a body of {0} is refused before it comes ({1})':
    'eine Anfrage mit {0} wird abgelehnt, bevor sie ankommt ({1})',
  'a content has waited {0} h for its copy in the mirror':
    'ein Inhalt wartet seit {0} h auf seine Kopie im Spiegel',
  'a guest may send {0}, a file may have {1}': 'ein Gast darf {0} schicken, eine Datei darf {1} haben',
  'a slow answer did not arrive: {0}': 'eine langsame Antwort kam nicht an: {0}',
  'a sync of 4 KiB takes {0} ms': '4 KiB sicher zu schreiben dauert {0} ms',
  'a sync of 4 KiB takes {0} ms, which no disk can do':
    '4 KiB sicher zu schreiben dauert {0} ms, was keine Platte kann',
  'after {0} s without an answer the proxy gives up ({1})':
    'nach {0} s ohne Antwort gibt der Proxy auf ({1})',
  'all stored bytes were read or stored in the last day':
    'alle gespeicherten Bytes wurden am letzten Tag gelesen oder gespeichert',
  'all stored bytes were read or stored in the last {0} days':
    'alle gespeicherten Bytes wurden in den letzten {0} Tagen gelesen oder gespeichert',
  'an answer may take {0} s': 'eine Antwort darf {0} s dauern',
  'an upload did not arrive: {0}': 'ein Upload kam nicht an: {0}',
  'an upload may announce {0}': 'ein Upload darf {0} ankündigen',
  'answers arrive as they are sent': 'Antworten kommen an, wie sie gesendet werden',
  'autovacuum is off': 'Autovacuum ist aus',
  'autovacuum is on': 'Autovacuum ist an',
  'browsers are told to use https': 'Browser werden angewiesen, https zu verwenden',
  'bucket {0} takes, returns and removes bytes': 'Bucket {0} nimmt Bytes an, gibt sie zurück und löscht sie',
  'bucket {0} is full': 'Bucket {0} ist voll',
  'bucket {0} does not join the parts of large files: {1}':
    'Bucket {0} fügt die Teile großer Dateien nicht zusammen: {1}',
  'bucket {0} joins the parts of large files': 'Bucket {0} fügt die Teile großer Dateien zusammen',
  'bucket {0}: {1}': 'Bucket {0}: {1}',
  'no store joins parts': 'kein Speicher fügt Teile zusammen',
  'Files over 8 MiB cannot be stored.': 'Dateien über 8 MiB lassen sich nicht speichern.',
  'bytes that change on their way to the store are noticed':
    'Bytes, die sich auf dem Weg zum Speicher ändern, fallen auf',
  'downloads lead from https to {0}': 'Downloads führen von https zu {0}',
  'downloads lead to {0}': 'Downloads führen zu {0}',
  'everybody can read {0}/metrics': 'jeder kann {0}/metrics lesen',
  'failed too often, and set aside: {0}: {1}': 'zu oft gescheitert und ausgesetzt: {0}: {1}',
  'failed too often, and set aside: {0}; the log has the reason':
    'zu oft gescheitert und ausgesetzt: {0}; der Grund steht im Protokoll',
  'http leads to https': 'http führt zu https',
  'https is not on its usual port: http need not lead there':
    'https ist nicht auf seinem üblichen Port: http muss nicht dorthin führen',
  'it cannot be used: the disk under it is full':
    'sie lässt sich nicht verwenden: Die Platte darunter ist voll',
  'it cannot be used: {0}': 'sie lässt sich nicht verwenden: {0}',
  'its clock and this one differ by {0} s': 'ihre Uhr und diese weichen um {0} s voneinander ab',
  'its kind cannot be found out here': 'seine Art ist hier nicht herauszufinden',
  'left out': 'ausgelassen',
  'metrics are not public': 'Metriken sind nicht öffentlich',
  'no TLS connection: {0}': 'keine TLS-Verbindung: {0}',
  'no answer: {0}': 'keine Antwort: {0}',
  'no background job stands still': 'keine Hintergrundaufgabe steht still',
  'no content is marked as damaged': 'kein Inhalt ist als beschädigt bekannt',
  'no mail server is configured': 'kein Mailserver ist eingestellt',
  'no mirror is configured': 'kein Spiegel ist eingestellt',
  'no proxy: visitors are counted by their own addresses':
    'kein Proxy: Besucher werden nach ihren eigenen Adressen gezählt',
  'no public address is set': 'keine öffentliche Adresse ist eingestellt',
  'no setting stands in the way of another': 'keine Einstellung steht einer anderen im Weg',
  'no store takes bytes over a network': 'kein Speicher nimmt Bytes über ein Netzwerk an',
  'not looked at': 'nicht angesehen',
  'one content is damaged': 'ein Inhalt ist beschädigt',
  'one node uses up to {0} of {1} connections': 'ein Knoten verwendet bis zu {0} von {1} Verbindungen',
  'requests arrive for {0}': 'Anfragen kommen für {0} an',
  'no request came by a proxy that is not trusted':
    'keine Anfrage kam über einen Proxy, dem nicht vertraut wird',
  '{0} sends "{1}" and is not a trusted proxy': '{0} sendet „{1}“ und ist kein vertrauter Proxy',
  'All visitors who come by it count as one: wrong passwords of a stranger lock everybody out.':
    'Alle, die über ihn kommen, zählen als einer: falsche Passwörter eines Fremden sperren alle aus.',
  'requests come from {0}, which is not a trusted proxy':
    'Anfragen kommen von {0}, das kein vertrauter Proxy ist',
  'requests for a part of a file arrive': 'Anfragen nach einem Teil einer Datei kommen an',
  'requests with these methods do not arrive: {0}': 'Anfragen mit diesen Methoden kommen nicht an: {0}',
  'signing in with {0} is off': 'die Anmeldung mit {0} ist aus',
  'some stored bytes were not read for {0} days; more than {1} are due':
    'manche gespeicherten Bytes wurden {0} Tage lang nicht gelesen; mehr als {1} sind fällig',
  'some stored bytes were not read for {0} days; {1} are due':
    'manche gespeicherten Bytes wurden {0} Tage lang nicht gelesen; {1} sind fällig',
  'stored bytes are not read again, as is usual with S3, where reading may cost money':
    'gespeicherte Bytes werden nicht nachgelesen, wie bei S3 üblich, wo Lesen Geld kosten kann',
  'stored bytes are not read again: {0}': 'gespeicherte Bytes werden nicht nachgelesen: {0}',
  'stored bytes are not read again: {0} is 0': 'gespeicherte Bytes werden nicht nachgelesen: {0} ist 0',
  'stored bytes are not read again; the log has the reason':
    'gespeicherte Bytes werden nicht nachgelesen; der Grund steht im Protokoll',
  'the certificate does not say when it ends': 'das Zertifikat sagt nicht, wann es endet',
  'the certificate ends in {0} days': 'das Zertifikat endet in {0} Tagen',
  'the certificate is not valid: {0}': 'das Zertifikat ist nicht gültig: {0}',
  'the certificate is valid for {0} more days': 'das Zertifikat gilt noch {0} Tage',
  'the clock is not synchronized': 'die Uhr wird nicht abgeglichen',
  'the clock is synchronized': 'die Uhr wird abgeglichen',
  'the clocks of PostgreSQL and of this machine differ by {0} s':
    'die Uhren von PostgreSQL und dieser Maschine weichen um {0} s voneinander ab',
  'the data folder takes, returns and removes bytes':
    'der Datenordner nimmt Bytes an, gibt sie zurück und löscht sie',
  'the data folder is full': 'der Datenordner ist voll',
  'the data folder: {0}': 'der Datenordner: {0}',
  "the database is at this program's version": 'die Datenbank hat die Version dieses Programms',
  'the file system has as many inodes as it needs': 'das Dateisystem hat so viele Inodes, wie es braucht',
  'the last rehearsal of a restore: {0}': 'die letzte Probe einer Wiederherstellung: {0}',
  'the last rehearsal of a restore: one content did not come back':
    'die letzte Probe einer Wiederherstellung: ein Inhalt kam nicht zurück',
  'the last rehearsal of a restore: {0} contents did not come back':
    'die letzte Probe einer Wiederherstellung: {0} Inhalte kamen nicht zurück',
  'the mirror keeps up': 'der Spiegel ist auf dem Stand',
  'the mirror keeps up; its mark is {0}': 'der Spiegel ist auf dem Stand; seine Marke ist {0}',
  'the newest backup is as young as it should be': 'die neueste Sicherung ist so jung, wie sie sein soll',
  'the newest backup is as young as it should be; its catalog is {0}':
    'die neueste Sicherung ist so jung, wie sie sein soll; ihr Katalog ist {0}',
  'the backups lie on the disk of the data folder': 'die Sicherungen liegen auf der Platte des Datenordners',
  'the newest backup is {0} h old': 'die neueste Sicherung ist {0} h alt',
  'the proxy changes the host name: {0} arrives as {1}':
    'der Proxy ändert den Hostnamen: {0} kommt als {1} an',
  'the proxy does not say who asks: every visitor appears as {0}':
    'der Proxy sagt nicht, wer anfragt: Alle Besucher erscheinen als {0}',
  'the proxy gave up waiting ({0}) before it could be seen':
    'der Proxy gab das Warten auf ({0}), bevor es zu sehen war',
  'the proxy holds answers back': 'der Proxy hält Antworten zurück',
  'the proxy keeps uploads until they are whole': 'der Proxy hält Uploads zurück, bis sie vollständig sind',
  'the proxy takes Strict-Transport-Security away': 'der Proxy entfernt Strict-Transport-Security',
  'the proxy takes the Range header away': 'der Proxy entfernt den Header Range',
  'the server makes no backups by itself': 'der Server macht von selbst keine Sicherungen',
  'the store takes bytes that do not match their checksum (signed SHA-256 or Content-MD5)':
    'der Speicher nimmt Bytes an, die nicht zu ihrer Prüfsumme passen (signiertes SHA-256 oder Content-MD5)',
  'there is no Holdfast data in {0}': 'in {0} gibt es keine Daten von Holdfast',
  'uploaded files have no host name of their own': 'hochgeladene Dateien haben keinen eigenen Hostnamen',
  'uploads arrive as they are sent': 'Uploads kommen an, wie sie gesendet werden',
  'visitors are told apart (this machine is {0})': 'Besucher werden unterschieden (diese Maschine ist {0})',
  'visitors can choose the address by which they are counted: the proxy passes on what they send as X-Forwarded-For':
    'Besucher können die Adresse wählen, nach der sie gezählt werden: Der Proxy reicht weiter, was sie als X-Forwarded-For senden',
  'whether the clock is synchronized cannot be found out here':
    'ob die Uhr abgeglichen wird, ist hier nicht herauszufinden',
  '{0} cannot be written: {1}': 'in {0} lässt sich nicht schreiben: {1}',
  '{0} contents are damaged': '{0} Inhalte sind beschädigt',
  '{0} does not answer: {1}': '{0} antwortet nicht: {1}',
  '{0} does not lead to https': '{0} führt nicht zu https',
  '{0} does not reach this server ({1})': '{0} erreicht diesen Server nicht ({1})',
  '{0} is a Holdfast that does not know this installation ({1})':
    '{0} ist ein Holdfast, das diese Installation nicht kennt ({1})',
  '{0} is mounted with {1}': '{0} ist mit {1} eingehängt',
  '{0} is not encrypted': '{0} ist nicht verschlüsselt',
  '{0} is this machine': '{0} ist diese Maschine',
  '{0} is {1}': '{0} ist {1}',
  '{0} lets this server in': '{0} lässt diesen Server ein',
  '{0} lies in memory ({1})': '{0} liegt im Arbeitsspeicher ({1})',
  '{0} lies on {1}': '{0} liegt auf {1}',
  '{0} migrations wait': '{0} Migrationen stehen aus',
  '{0} nodes use up to {1} of {2} connections': '{0} Knoten verwenden bis zu {1} von {2} Verbindungen',
  'This is Holdfast {0}': 'Das ist Holdfast {0}',
  '{0} of {1} are free': '{0} von {1} sind frei',
  '{0} of {1} inodes are free': '{0} von {1} Inodes sind frei',
  '{0} reaches a Holdfast': '{0} erreicht ein Holdfast',
  '{0} reaches this installation': '{0} erreicht diese Installation',
  '{0} reaches this installation through {1}': '{0} erreicht diese Installation durch {1}',
  '{0}/health is answered by something else (status {1})':
    'auf {0}/health antwortet etwas anderes (Status {1})',
}
