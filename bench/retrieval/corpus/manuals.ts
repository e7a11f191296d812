import type { Paper, Part } from './paper.ts';

interface Device {
  readonly file: string;
  readonly name: string;
  readonly kind: string;
  readonly code: string;
  readonly setup: string;
  readonly start: string;
  readonly cleaning: string;
  readonly care: string;
  readonly storage: string;
  readonly troubleshooting: string;
  readonly years: number;
  readonly errors: readonly (readonly [string, string, string])[];
  readonly data: readonly (readonly [string, string])[];
}

/** Manuals of one brand. Their sections are the same but have different values. */
export const manuals: readonly Paper[] = devices().map((device) => ({
  file: device.file,
  title: `${device.name} user manual`,
  parts: buildParts(device),
}));

function buildParts({
  name,
  kind,
  code,
  setup,
  start,
  cleaning,
  care,
  storage,
  troubleshooting,
  years,
  errors,
  data,
}: Device): Part[] {
  return [
    {
      heading: 'Safety',
      paragraphs: [
        `Read this manual before you use the ${name} and keep it with the device. The ${kind} is made for households and small offices; any other use ends the liability of the maker.`,
        `Unplug the ${kind} before you open its housing. Children under eight must not operate it without somebody watching. Do not use the device when its cable is damaged; have the cable replaced by a service partner.`,
      ],
    },
    {
      heading: 'Setting up',
      paragraphs: [
        setup,
        `The serial number begins with ${code} and is printed on the plate at the back. Register it within four weeks so that recalls can reach you.`,
      ],
    },
    {
      heading: 'Everyday use',
      paragraphs: [
        start,
        `The ${kind} remembers the last programme and offers it again at the next start. Two short tones say that a programme has ended, one long tone that something needs attention.`,
      ],
    },
    {
      heading: 'Cleaning',
      paragraphs: [
        cleaning,
        'Never use scouring powder, solvents or a steam cleaner. Wipe the outside with a damp cloth and dry it.',
      ],
    },
    { heading: 'Regular care', paragraphs: [care, storage] },
    { heading: 'Error codes', table: { header: ['Code', 'Meaning', 'What to do'], rows: errors } },
    {
      heading: 'Troubleshooting',
      paragraphs: [
        troubleshooting,
        'When none of this helps, write down the code in the display and call the service with the serial number at hand.',
      ],
    },
    {
      heading: 'Warranty',
      paragraphs: [
        `The maker gives a warranty of ${years} years from the day of purchase. It covers faults of material and assembly, not wear parts and not damage by wrong use. Keep the receipt; without it no claim can be handled.`,
      ],
    },
    { heading: 'Technical data', table: { header: ['Property', 'Value'], rows: data } },
  ];
}

function devices(): Device[] {
  return [
    {
      file: 'aurora-c200.pdf',
      name: 'Aurora C200',
      kind: 'coffee machine',
      code: 'AC2-77',
      years: 3,
      setup:
        'Stand the machine on a level surface, at least 15 cm from the wall, and fill the tank with cold tap water. Rinse it twice without coffee before the first cup.',
      start:
        'Press the cup symbol once for an espresso and twice for a long coffee. The grinder can be set finer while it turns, never while it stands.',
      cleaning:
        'Take out the brewing group every Friday and rinse it under lukewarm water without detergent. The milk hose is flushed after each day on which milk was frothed.',
      care: 'When the drop symbol lights up, lime has built up: run the descaling programme with 100 ml of citric acid solution AX-19, which takes 25 minutes.',
      storage: 'Before frost or a move, empty the pipes with the steam function, otherwise ice may burst the boiler.',
      troubleshooting:
        'If the coffee comes too slowly, the grind is too fine or the sieve is clogged. Watery coffee points to beans that were ground too coarse.',
      errors: [
        ['E-11/C', 'Water tank empty', 'Fill the tank and confirm'],
        ['E-24/C', 'Brewing group not in place', 'Push it in until it clicks'],
        ['E-38/C', 'Grinder blocked', 'Remove the foreign body from the bean hopper'],
        ['E-52/C', 'Boiler too hot', 'Switch off for 30 minutes'],
      ],
      data: [
        ['Power', '1450 W'],
        ['Tank', '1.8 litres'],
        ['Pressure', '15 bar'],
        ['Weight', '9.2 kg'],
        ['Noise', '58 dB'],
      ],
    },
    {
      file: 'borealis-d90.docx',
      name: 'Borealis D90',
      kind: 'dishwasher',
      code: 'BD9-13',
      years: 2,
      setup:
        'Connect the supply hose to the cold water tap by hand, without tools. The drain hose must make a bow that is at least 40 cm above the floor.',
      start:
        'Scrape leftovers off the plates but do not rinse them. The programme Eco 50 needs the least current and takes 3 hours 20 minutes.',
      cleaning:
        'Lift out the sieve in the floor every two weeks and rinse grains of food away under the tap. Wipe the door seal, where fat gathers.',
      care: 'Refill the special salt when the S lights up; about 1.2 kg fit in. Rinse aid lasts for around forty runs.',
      storage: 'Leave the door ajar when you go on holiday, so that no smell builds up.',
      troubleshooting:
        'White streaks on glasses come from too little salt, rainbow streaks from too much rinse aid. Dishes that stay wet lack rinse aid.',
      errors: [
        ['F-03/D', 'No water comes in', 'Open the tap and straighten the hose'],
        ['F-17/D', 'Water in the floor pan', 'Close the tap and call the service'],
        ['F-21/D', 'Water is not pumped out', 'Clean the sieve and the pump'],
        ['F-40/D', 'Heater fails', 'Call the service'],
      ],
      data: [
        ['Place settings', '14'],
        ['Water a run', '9.5 litres'],
        ['Noise', '42 dB'],
        ['Width', '60 cm'],
        ['Energy class', 'B'],
      ],
    },
    {
      file: 'cirrus-h15.html',
      name: 'Cirrus H15',
      kind: 'humidifier',
      code: 'CH1-58',
      years: 2,
      setup:
        'Place the device at least one metre away from furniture and books, with the mist outlet towards the middle of the room.',
      start:
        'Turn the wheel to the humidity you want; between 40 and 55 percent is good for people and instruments. Distilled water avoids white dust.',
      cleaning:
        'Empty the basin daily. Once a week let a mixture of vinegar and water stand in it for half an hour and brush the membrane softly.',
      care: 'The ceramic cartridge CF-77 has to be replaced after six months or 1000 hours, whichever comes first.',
      storage: 'Dry all parts for a day before the device goes into its box for the summer.',
      troubleshooting:
        'If hardly any mist comes out, the membrane is covered with lime. A smell of stale water means that the basin was not emptied.',
      errors: [
        ['H-02/M', 'Basin empty', 'Refill distilled water'],
        ['H-09/M', 'Membrane worn', 'Replace the membrane'],
        ['H-14/M', 'Fan stuck', 'Remove dust from the fan'],
      ],
      data: [
        ['Output', '320 ml an hour'],
        ['Tank', '4.5 litres'],
        ['Rooms up to', '45 square metres'],
        ['Power', '28 W'],
      ],
    },
    {
      file: 'dorado-p400.pdf',
      name: 'Dorado P400',
      kind: 'laser printer',
      code: 'DP4-02',
      years: 1,
      setup:
        'Remove all orange tapes and pull the sealing strip out of the toner before you close the front flap. The printer needs a socket of its own, not a power strip.',
      start:
        'Paper goes into the lower tray with the side to be printed facing down. Envelopes are fed one by one through the flap at the back.',
      cleaning:
        'Shake the toner gently when prints get pale. Dust on the glass strip of the laser makes white lines; wipe it with the stick in the front flap.',
      care: 'The drum DR-4100 lasts about 12,000 pages, the toner TN-4150 about 2,600 pages.',
      storage: 'Keep spare toner lying flat and in the dark; light makes it useless within minutes.',
      troubleshooting: 'Crumpled sheets come from damp paper: open a fresh pack. Ghost images point to a drum that is worn out.',
      errors: [
        ['P-30/J', 'Paper jam at the rear', 'Open the back flap and pull the sheet out slowly'],
        ['P-44/J', 'Drum at its end', 'Fit a new drum'],
        ['P-71/J', 'Fuser not hot', 'Switch off for 15 minutes, then on again'],
        ['P-88/J', 'Toner unknown', 'Use the original toner'],
      ],
      data: [
        ['Speed', '34 pages a minute'],
        ['Resolution', '1200 dpi'],
        ['Tray', '250 sheets'],
        ['Standby', '1.1 W'],
      ],
    },
    {
      file: 'elara-v8.md',
      name: 'Elara V8',
      kind: 'vacuum robot',
      code: 'EV8-40',
      years: 2,
      setup:
        'Leave half a metre free on both sides of the charging dock and lay no carpet under it. Charge the robot for five hours before its first tour.',
      start:
        'Say which rooms it should leave out by drawing red zones on the map in the app. Cables and shoelaces should be picked up before a tour.',
      cleaning:
        'Empty the dust box after each tour and knock the filter out over a bin; hair is cut out of the brush with the little hook.',
      care: 'The side brush is replaced every three months, the lithium battery EB-21 after about two years.',
      storage: 'If the robot will not be used for months, store it with a half charged battery.',
      troubleshooting:
        'When it drives in circles, a wheel sensor is dirty. If it does not find home, the dock has lost power or was moved.',
      errors: [
        ['R-05/V', 'Wheel hangs in the air', 'Put the robot on the floor'],
        ['R-12/V', 'Brush tangled', 'Remove hair and threads'],
        ['R-19/V', 'Bumper stuck', 'Tap the bumper free'],
        ['R-33/V', 'Battery too warm', 'Let it cool down in the dock'],
      ],
      data: [
        ['Running time', '110 minutes'],
        ['Dust box', '0.45 litres'],
        ['Height', '9.6 cm'],
        ['Climbs', '1.8 cm'],
      ],
    },
    {
      file: 'fornax-o60.docx',
      name: 'Fornax O60',
      kind: 'oven',
      code: 'FO6-91',
      years: 5,
      setup:
        'The oven may only be wired by an electrician, with a fuse of 16 ampere of its own. Heat it empty at 240 degrees for an hour before the first meal; open a window meanwhile.',
      start:
        'Hot air browns two trays at once and needs 20 degrees less than top and bottom heat. The core probe is pushed into the thickest part of the roast.',
      cleaning:
        'Pyrolysis burns dirt to ash at 480 degrees; take out racks and rails before and sweep the ash up afterwards. The door stays locked until the inside is below 280 degrees.',
      care: 'The lamp is a halogen bulb G9 of 25 W. Change it only when the oven is cold and never touch the new bulb with bare fingers.',
      storage: 'The rails can be unhooked without tools by lifting them at the front.',
      troubleshooting:
        'Cake that sinks was taken out too early or the door was opened. Uneven browning comes from a tray that stands too close to the back wall.',
      errors: [
        ['O-07/T', 'Door not locked', 'Press the door until it clicks'],
        ['O-15/T', 'Temperature sensor fails', 'Call the service'],
        ['O-26/T', 'Core probe missing', 'Plug in the probe'],
      ],
      data: [
        ['Volume', '71 litres'],
        ['Highest temperature', '300 degrees'],
        ['Levels', '5'],
        ['Connection', '3.6 kW'],
      ],
    },
    {
      file: 'gemini-w12.html',
      name: 'Gemini W12',
      kind: 'washing machine',
      code: 'GW1-36',
      years: 4,
      setup:
        'Remove the four transport bolts before the first wash and keep them for a move. Turn the feet until the machine does not rock.',
      start:
        'Fill the drum loosely so that a hand fits on top of the laundry. Wool is washed at 30 degrees with at most 800 turns.',
      cleaning:
        'Pull out the detergent drawer once a month and brush the chamber behind it. Run an empty wash at 90 degrees against smell.',
      care: 'Drain the remaining water through the flap at the lower right before you open the lint filter; a shallow bowl is useful.',
      storage: 'Close the tap after each wash when nobody is at home.',
      troubleshooting:
        'A machine that walks at spinning is not level or is loaded on one side. Grey veils come from too little detergent.',
      errors: [
        ['W-08/S', 'Door open', 'Close the door firmly'],
        ['W-16/S', 'Water runs in too slowly', 'Clean the strainer in the hose'],
        ['W-29/S', 'Drum out of balance', 'Spread the laundry'],
        ['W-35/S', 'Leak sensor', 'Close the tap and call the service'],
      ],
      data: [
        ['Load', '8 kg'],
        ['Spinning', '1400 turns a minute'],
        ['Depth', '58.5 cm'],
        ['Water a wash', '44 litres'],
      ],
    },
    {
      file: 'helix-r3.pdf',
      name: 'Helix R3',
      kind: 'router',
      code: 'HR3-65',
      years: 2,
      setup:
        'Mount the router high up and upright, away from radiators and microwave ovens. The grey cable leads to the telephone socket, the yellow ones to computers.',
      start:
        'The first password is printed on the card in the box; change it at once. Guests get a network of their own, which switches itself off at midnight.',
      cleaning: 'Free the slots from dust with a dry brush twice a year.',
      care: 'New firmware is loaded at night between three and four o clock unless you forbid it. A blinking blue light means that this is going on; do not pull the plug.',
      storage: 'To give the router away, hold the reset pin for ten seconds: all settings and passwords are erased.',
      troubleshooting:
        'If films stutter in far rooms, add a repeater or change to channel 36. A red globe says that the line of the provider is down.',
      errors: [
        ['N-01/L', 'No signal on the line', 'Check the grey cable'],
        ['N-10/L', 'Login refused by the provider', 'Type in the access data anew'],
        ['N-22/L', 'Address conflict', 'Restart all devices'],
      ],
      data: [
        ['Standard', 'Wi-Fi 6'],
        ['Ports', '4 x 1 Gbit'],
        ['Range', '30 metres indoors'],
        ['Power', '11 W'],
      ],
    },
  ];
}
