//! What the commentators say, over and over, in three languages.

/// One language of the sound.
pub(crate) struct Language {
    /// ISO 639-2 code, as MPEG-TS and Matroska write it.
    pub(crate) code: &'static str,
    /// Name of the voice in espeak-ng.
    pub(crate) voice: &'static str,
    /// What is said.
    pub(crate) text: &'static str,
}

/// In the order of the streams.
pub(crate) const LANGUAGES: [Language; 3] = [
    Language {
        code: "eng",
        voice: "en",
        text: "Good afternoon, and welcome back to the ground. The sun is out, and the stands are full. \
            The bowler turns at the end of his mark, and here he comes. Short of a length, outside off stump, \
            and that is left alone. He is making them wait today. \
            The captain moves one man from cover to a deeper point. \
            In he comes again. Fuller this time, and driven! Past mid off, and it races away to the rope. \
            What a lovely shot that was. No need to run. \
            You can hear what the crowd thinks of it. There is a little breeze across the ground now, \
            so we may see some swing from this end. \
            The field comes in, the keeper is up, and everyone is ready for the next ball.",
    },
    Language {
        code: "hin",
        voice: "hi",
        text: "नमस्कार, मैदान पर आप सभी का फिर से स्वागत है। धूप खिली हुई है, और दर्शकों से पूरा मैदान भरा हुआ है। \
            गेंदबाज़ अपने निशान से मुड़े, और ये आए। ऑफ स्टंप के बाहर, छोटी गेंद, और बल्लेबाज़ ने उसे जाने दिया। \
            आज वे बहुत धैर्य के साथ खेल रहे हैं। कप्तान ने कवर के खिलाड़ी को पीछे भेजा है। \
            फिर से दौड़ते हुए आए। इस बार आगे की गेंद, और शानदार ड्राइव! मिड ऑफ के पास से निकलती हुई, सीधे सीमा रेखा के पार। \
            क्या खूबसूरत शॉट था। दौड़ने की कोई ज़रूरत नहीं। \
            सुनिए, दर्शक कितने खुश हैं। अब मैदान पर थोड़ी हवा चल रही है, तो गेंद इस छोर से घूम सकती है। \
            खिलाड़ी अंदर आ रहे हैं, विकेटकीपर तैयार हैं, और सब अगली गेंद का इंतज़ार कर रहे हैं।",
    },
    Language {
        code: "tam",
        voice: "ta",
        text: "வணக்கம், மைதானத்திற்கு உங்கள் அனைவரையும் மீண்டும் வரவேற்கிறோம். வெயில் நன்றாக அடிக்கிறது, அரங்கம் நிரம்பி வழிகிறது. \
            பந்து வீச்சாளர் ஓடி வருகிறார். ஆஃப் ஸ்டம்புக்கு வெளியே வந்த பந்து, பேட்ஸ்மேன் அதை விட்டு விட்டார். \
            இன்று அவர் மிகவும் பொறுமையாக விளையாடுகிறார். கேப்டன் ஒரு வீரரை பின்னால் அனுப்புகிறார். \
            மீண்டும் ஓடி வருகிறார். இந்த முறை முன்னால் விழுந்த பந்து, அருமையான அடி! பந்து எல்லைக் கோட்டை நோக்கி வேகமாக செல்கிறது. \
            எவ்வளவு அழகான ஆட்டம். ஓட வேண்டிய அவசியமே இல்லை. \
            ரசிகர்களின் மகிழ்ச்சியை கேளுங்கள். இப்போது மைதானத்தில் லேசான காற்று வீசுகிறது. \
            வீரர்கள் தயாராக இருக்கிறார்கள், எல்லோரும் அடுத்த பந்துக்காக காத்திருக்கிறார்கள்.",
    },
];
