import type { Paper } from './paper.ts';

/** Reports, minutes, and articles. */
export const notes: readonly Paper[] = [
  {
    file: 'incident-inc-2041.txt',
    title: 'INCIDENT REPORT INC-2041',
    parts: [
      {
        heading: 'SUMMARY',
        paragraphs: [
          'On 12 March the web shop could not be reached for 47 minutes. Customers saw a blank page. No orders were lost.',
        ],
      },
      {
        heading: 'CAUSE',
        paragraphs: [
          'A certificate on the load balancer lb-07.edge had run out because the reminder went to somebody who had left the company.',
        ],
      },
      {
        heading: 'REPAIR',
        paragraphs: ['The certificate was renewed by hand. Renewal is automatic now and a probe warns three weeks ahead.'],
      },
      {
        heading: 'LESSONS',
        paragraphs: ['Reminders go to a group and not to a person. The list of certificates is looked through each quarter.'],
      },
    ],
  },
  {
    file: 'incident-inc-2077.txt',
    title: 'INCIDENT REPORT INC-2077',
    parts: [
      {
        heading: 'SUMMARY',
        paragraphs: [
          'On 2 June invoices of 318 customers were sent twice. The total was 96,000 euros; all were cancelled the same day.',
        ],
      },
      {
        heading: 'CAUSE',
        paragraphs: [
          'A job was started again by hand while its first run still hung in the queue bill-q3. It kept no note of what it had done already.',
        ],
      },
      {
        heading: 'REPAIR',
        paragraphs: [
          'The job writes down each invoice before sending it and skips those it finds. Restarting it is harmless since.',
        ],
      },
      {
        heading: 'LESSONS',
        paragraphs: ['Whatever can be started twice will be started twice. Two people confirm a manual start.'],
      },
    ],
  },
  {
    file: 'incident-inc-2103.txt',
    title: 'INCIDENT REPORT INC-2103',
    parts: [
      {
        heading: 'SUMMARY',
        paragraphs: [
          'On 30 August the cold store in hall 6 warmed up to 11 degrees during the night. Goods worth 52,000 euros had to be thrown away.',
        ],
      },
      {
        heading: 'CAUSE',
        paragraphs: ['The compressor stopped after a thunderstorm. The alarm was sent to a pager whose battery was flat.'],
      },
      {
        heading: 'REPAIR',
        paragraphs: [
          'A surge protector SP-880 was fitted. The alarm now calls three phones one after the other until somebody picks up.',
        ],
      },
      {
        heading: 'LESSONS',
        paragraphs: ['An alarm that nobody confirms is repeated. The chain is tested on the first Tuesday of each month.'],
      },
    ],
  },
  {
    file: 'minutes-april.txt',
    title: 'MINUTES OF THE SITE MEETING IN APRIL',
    parts: [
      {
        heading: 'PARKING',
        paragraphs: [
          'The lower deck will be closed from 4 to 15 May for new paint. Visitors use the field behind the water tower.',
        ],
      },
      {
        heading: 'NOISE',
        paragraphs: [
          'Neighbours complained about deliveries before six. From now on lorries wait at the motorway exit until the gate opens.',
        ],
      },
      {
        heading: 'WATER',
        paragraphs: ['Consumption has gone up by 9 percent without a reason. Deepak Menon has meters fitted in each house.'],
      },
      {
        heading: 'ANY OTHER BUSINESS',
        paragraphs: ['The summer party is on 19 June in the old brewery. Lena Fischer collects names for the band.'],
      },
    ],
  },
  {
    file: 'minutes-october.txt',
    title: 'MINUTES OF THE SITE MEETING IN OCTOBER',
    parts: [
      {
        heading: 'HEATING',
        paragraphs: [
          'Rooms are heated to 20 degrees and corridors to 16. The boiler in house 4 will be exchanged for a heat pump.',
        ],
      },
      {
        heading: 'BICYCLES',
        paragraphs: ['Thirty more stands are built beside the gate. Batteries may be charged in the workshop but not overnight.'],
      },
      {
        heading: 'ART',
        paragraphs: ['The mural by the pupils of the Linden school is unveiled on 3 November. The canteen offers pumpkin soup.'],
      },
      {
        heading: 'ANY OTHER BUSINESS',
        paragraphs: ['Xenia Pappas takes over the fire wardens from Wim de Boer at the turn of the year.'],
      },
    ],
  },
  {
    file: 'faq.html',
    title: 'Questions of customers',
    parts: [
      {
        heading: 'Can I send a device back?',
        paragraphs: [
          'Within thirty days after delivery, without giving a reason. We pay the postage when the parcel is lighter than 20 kg.',
        ],
      },
      {
        heading: 'How do I get spare parts?',
        paragraphs: ['In the shop under Parts, for ten years after the end of production. Type in the number from the plate.'],
      },
      {
        heading: 'Do you repair devices of other makers?',
        paragraphs: ['No. The repair cafe in the library does so on Saturdays.'],
      },
      {
        heading: 'Why is my parcel late?',
        paragraphs: [
          'Strikes and snow hold parcels up. If nothing has moved for five days, write to us and we send a second one.',
        ],
      },
      {
        heading: 'Can I pay in instalments?',
        paragraphs: ['Yes, from 200 euros on, in six or twelve monthly rates at an interest of 3.9 percent.'],
      },
      {
        heading: 'What happens to old devices?',
        paragraphs: ['Four fifths of their weight are reused. Copper and gold are won back in our yard in Antwerp.'],
      },
    ],
  },
  {
    file: 'glossary.md',
    title: 'Glossary',
    parts: [
      { heading: 'Descaling', paragraphs: ['Dissolving lime with a weak acid. Hard water needs it more often.'] },
      { heading: 'Duty cycle', paragraphs: ['The share of an hour in which a machine may run without overheating.'] },
      { heading: 'Ghosting', paragraphs: ['A faint repetition of a picture further down on a printed page.'] },
      { heading: 'Inrush current', paragraphs: ['The brief peak when a motor or transformer is switched on.'] },
      {
        heading: 'Mean time between failures',
        paragraphs: ['The average running time from one fault to the next, written MTBF.'],
      },
      {
        heading: 'Residual current device',
        paragraphs: ['A switch that cuts the supply when current flows to earth, for instance through a person.'],
      },
      { heading: 'Torque', paragraphs: ['The turning force on a screw or shaft, measured in newton metres.'] },
    ],
  },
  {
    file: 'site-history.md',
    title: 'History of the site',
    parts: [
      {
        heading: 'The mill',
        paragraphs: [
          'Monks built a water mill at the bend of the river in 1283. It burned down twice and ground rye until the railway came.',
        ],
      },
      {
        heading: 'The weavers',
        paragraphs: [
          'In 1846 the brothers Ansel and Theodor Kreuz bought the ruin and set up forty looms. Their cloth clothed half of the valley.',
        ],
      },
      {
        heading: 'Between the wars',
        paragraphs: ['The looms were sold in the crisis of 1931. Unemployed turners began to mend radios in the empty hall.'],
      },
      {
        heading: 'The first kettle',
        paragraphs: [
          'Out of the radio shop grew a factory. Its first product of its own was a whistling kettle in 1952, of which one stands in the lobby.',
        ],
      },
      { heading: 'Today', paragraphs: ['The mill wheel turns again since 2009 and drives a generator that lights the yard.'] },
    ],
  },
];
